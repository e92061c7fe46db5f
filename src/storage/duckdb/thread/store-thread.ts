import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { CallsUnderWay } from '../../../worker/calls-under-way.js';
import { noticeLogger, type LogNotice } from '../../../worker/notice-logger.js';
import { MessageBatcher } from '../../../worker/message-batcher.js';
import { serializeError, type ThreadMessage } from '../../../worker/thread-protocol.js';
import { serve } from '../../../worker/thread-server.js';
import { serveFacts } from '../../shared/outbox-port.js';
import type { FactPage, OutboxSource } from '../../contracts/events.js';
import { readWhenThere } from '../../shared/read-when-there.js';
import type { Observations } from '../read/observations.js';
import type { TracesMessage } from '../../incoming/encode-traces.js';
import type { LogsMessage } from '../write/encode-logs.js';
import type { PointsMessage } from '../write/encode-points.js';
import type { StoreOptions } from './store-options.js';
import { StoreEngine } from './store-engine.js';
import { answerRead, type ReadCall } from './store-reads.js';
import type { ExportProgress, SourceFile, WrittenTables } from '../../contracts/transfer.js';

/** The store thread, the only one that opens the database. `client/store.ts` starts it. */

const port = parentPort;
if (port === null) throw new Error('store-thread.js runs as a worker thread only');

const batcher = new MessageBatcher<ThreadMessage>(port);
const notify = (notice: string, value: unknown): void => {
  batcher.post({ kind: 'notice', notice, value });
};

const sendLine = (line: LogNotice): void => {
  notify('log', line);
};
const engine = StoreEngine.open(workerData as StoreOptions, noticeLogger(sendLine, false), {
  committed: (report) => {
    notify('commit', report);
  },
  died: (error) => {
    batcher.post({ kind: 'notice', notice: 'died', value: serializeError(error) }, [], true);
  },
  troubled: (healthIssues) => {
    notify('healthIssues', healthIssues);
  },
});
// The caller of `open` gets the error; until then it must not count as an unhandled rejection.
engine.catch(() => undefined);

/** The running calls, which `close` waits for: each may request several connections in turn. */
const reads = new CallsUnderWay();

/** Not one of the calls that `close` waits for: a poll that waits for facts holds no connection. */
const readFacts: OutboxSource['readFacts'] = async (mark, limit, wait) => {
  const target = await engine;
  const page = {
    read: reads.known(() => target.readFacts(mark, limit)),
    isEmpty: ({ facts }: FactPage) => facts.length === 0,
    watch: (listener: () => void) => target.watchFacts(listener),
  };
  return await readWhenThere(page, wait);
};

/** Methods of the engine that the daemon's thread calls directly. */
const ENGINE_METHODS = [
  'applyRetention',
  'stats',
  'isEmpty',
  'linkedPrompts',
  'linkPrompt',
  'oldest',
  'rebuildMap',
  'restoreBase',
  'setOutcome',
  'storedBytes',
  'timeOutIdle',
  'writeScores',
] as const satisfies readonly (keyof StoreEngine)[];
export type EngineMethod = (typeof ENGINE_METHODS)[number];

/** Methods for alerts. */
const LOOK_METHODS = ['observe', 'exampleTraces'] as const satisfies readonly (keyof Observations)[];
export type LookMethod = (typeof LOOK_METHODS)[number];

serve(port, batcher, {
  open: async () => (await engine).id,
  close: async () => {
    await (await engine).close(() => reads.over());
  },
  abortPending: async () => {
    (await engine).abortPending();
  },
  settled: async () => {
    await (await engine).settled();
  },
  ...callsOf(ENGINE_METHODS, () => engine),
  ...callsOf(LOOK_METHODS, async () => (await engine).observations),
  readFacts,
  connectFacts: (connected: MessagePort) => {
    serveFacts({ readFacts }, connected);
  },
  writeTraces: async (message: TracesMessage) => await (await engine).writeTraces(message),
  writePoints: async (message: PointsMessage) => await (await engine).writePoints(message),
  writeLogs: async (message: LogsMessage) => await (await engine).writeLogs(message),
  read: reads.known(
    async (call: ReadCall, abort?: AbortSignal) => await answerRead((await engine).reads, call, abort),
  ),
  ...transferMethods(engine),
});

/** Methods for exports, imports and backups; `client/transfer-client.ts` calls them. */
function transferMethods(engine: Promise<StoreEngine>) {
  return {
    beginExport: async (): Promise<boolean> => await (await engine).export.begin(),
    exportLacksFacts: async (mark: string | null): Promise<boolean> =>
      await (await engine).export.lacksFacts(mark),
    writeExport: async (
      directory: string,
      skipsDamaged: boolean,
      abort?: AbortSignal,
    ): Promise<WrittenTables> => await (await engine).export.write(directory, { skipsDamaged, abort }),
    exportProgress: async (): Promise<ExportProgress> => (await engine).export.progress,
    endExport: async (): Promise<void> => {
      await (await engine).export.end();
    },
    beginBackup: async (): Promise<readonly SourceFile[] | null> => await (await engine).backup.begin(),
    backupLacksFacts: async (mark: string | null): Promise<boolean> =>
      await (await engine).backup.lacksFacts(mark),
    resumeBackup: async (): Promise<void> => {
      await (await engine).backup.resume();
    },
    releaseBackup: async () => await (await engine).backup.release(),
    endBackup: async (): Promise<void> => {
      await (await engine).backup.end();
    },
    countBackup: async () => await (await engine).backup.count(),
    lastCommit: async (): Promise<number> => (await engine).lastCommit,
  };
}

/** Wraps the methods of an object as calls that `close` waits for. */
function callsOf<Name extends string>(
  names: readonly Name[],
  target: () => Promise<Readonly<Record<Name, (...args: never[]) => unknown>>>,
): Record<string, (...args: never[]) => Promise<unknown>> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      reads.known(async (...args: never[]) => await (await target())[name](...args)),
    ]),
  );
}
