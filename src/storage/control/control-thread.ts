import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { systemClock } from '../../telemetry/system-clock.js';
import { noticeLogger, type LogNotice } from '../../worker/notice-logger.js';
import { MessageBatcher } from '../../worker/message-batcher.js';
import type { ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import type { ControlOptions } from './control-options.js';
import { openControl } from './open-control.js';
import { methodsOf, serveControl, notifyChanges } from './serve-control.js';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../component/telemetry.js';

/** How often the store is checked for loss and recovery. */
const EVERY_MS = 1000;
/** A server that does not respond within this time counts as lost. */
const ANSWER_MS = 5000;

/**
 * Checks regularly whether a store responds.
 *
 * @param ask a small read or write, which throws if there is a problem
 * @param notify called once with the reason when the store fails, and with null when it has recovered
 * @returns a function that stops the checks
 */
function watchHealth(
  clock: Clock,
  ask: () => Promise<unknown>,
  notify: (healthIssue: string | null) => void,
): () => void {
  let isEnded = false;
  let isLost = false;
  let cancel = (): void => undefined;
  const look = async (): Promise<void> => {
    const healthIssue = await healthIssueOf(ask);
    if (isEnded) return;
    if (healthIssue === null ? isLost : !isLost) notify(healthIssue);
    isLost = healthIssue !== null;
    next();
  };
  const next = (): void => {
    cancel = clock.after(EVERY_MS, () => void look());
  };
  next();
  return () => {
    isEnded = true;
    cancel();
  };
}

async function healthIssueOf(ask: () => Promise<unknown>): Promise<string | null> {
  const over = new AbortController();
  const answered = ask().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const late = wait(ANSWER_MS, 'It does not respond.', { signal: over.signal, ref: false });
  late.catch(() => undefined);
  try {
    return await Promise.race([answered, late]);
  } finally {
    over.abort();
  }
}

/** The control thread, the only thread that opens the control store. `control-extension.ts` starts it. */

const port = parentPort;
if (port === null) throw new Error('control-thread.js runs as a worker thread only');

const batcher = new MessageBatcher<ThreadMessage>(port);
const sendLine = (line: LogNotice): void => {
  batcher.post({ kind: 'notice', notice: 'log', value: line });
};
const options = workerData as ControlOptions;
const opening = openControl(options, { clock: systemClock, logger: noticeLogger(sendLine, false) });
// The caller of `open` gets the error; until then it must not be an unhandled rejection.
opening.catch(() => undefined);

let endHealthProbe = (): void => undefined;
let abortPending = (): void => undefined;
const aborted = new Promise<void>((resolve) => (abortPending = resolve));

serve(port, batcher, {
  ...methodsOf(opening, batcher).methods,
  open: async () => {
    const store = await opening;
    notifyChanges(store, batcher);
    endHealthProbe = watchHealth(
      systemClock,
      () => store.check(),
      (healthIssue) => {
        batcher.post({ kind: 'notice', notice: 'reach', value: healthIssue }, [], true);
      },
    );
    return store.directory;
  },
  size: async () => await (await opening).size(),
  connect: async (connected: MessagePort) => {
    serveControl(await opening, connected);
  },
  close: async () => {
    endHealthProbe();
    const closed = (await opening).close();
    // A server that does not respond rolls back what is uncommitted. A file is always closed: ending the thread during a
    // statement of SQLite would abort the process.
    await (options.engine === 'sqlite' ? closed : Promise.race([closed, aborted]));
  },
  abortPending,
});
