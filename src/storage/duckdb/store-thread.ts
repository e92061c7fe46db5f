import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { CallsUnderWay } from '../../worker/calls-under-way.js';
import { noticeLogger, type LogNotice } from '../../worker/notice-logger.js';
import { Outbox } from '../../worker/outbox.js';
import { spellError, Transfer, type ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import type { SenderLimits } from '../delivery-store.js';
import { ConflictError } from '../meta-store.js';
import type { LogFilter, LogPage, PointFilter } from '../telemetry-store.js';
import type { TracesMessage } from './encode-traces.js';
import type { LogsMessage } from './logs/encode-logs.js';
import type { LogKey } from './logs/log-keys.js';
import type { PointsMessage } from './metrics/encode-points.js';
import type { PointsCursor } from './queries/metrics.js';
import type { MapList } from './queries/service-map.js';
import type { SpanCursor } from './queries/trace.js';
import type { StoreOptions } from './store-options.js';
import { serveSender } from './sender-port.js';
import { StoreEngine } from './store-engine.js';
import { storageFailure } from './storage-failure.js';

/** The store thread: the only one that opens the database. Its owner is `store.ts`. */

const port = parentPort;
if (port === null) throw new Error('store-thread.js runs as a worker thread only');

const outbox = new Outbox<ThreadMessage>(port);
const notify = (notice: string, value: unknown): void => {
  outbox.post({ kind: 'notice', notice, value });
};

const sendLine = (line: LogNotice): void => {
  notify('log', line);
};
const engine = StoreEngine.open(workerData as StoreOptions, noticeLogger(sendLine, false), {
  committed: (report) => {
    notify('commit', report);
  },
  eventsWritten: () => {
    notify('events', null);
  },
  died: (error) => {
    outbox.post({ kind: 'notice', notice: 'died', value: spellError(error) }, [], true);
  },
  touched: () => {
    notify('touched', null);
  },
  troubled: (messages) => {
    notify('troubles', messages);
  },
});
// Whoever calls `open` is told; until then the rejection is not unhandled.
engine.catch(() => undefined);

/** A read may need several looks into the tables, one after the other. */
const reads = new CallsUnderWay();

serve(port, outbox, {
  open: async () => (await engine).directory,
  close: async () => {
    await (await engine).close(() => reads.over());
  },
  hurry: async () => {
    (await engine).hurry();
  },
  figures: async () => (await engine).figures(),
  settled: async () => {
    await (await engine).settled();
  },
  applyRetention: async (now: number) => {
    await (await engine).applyRetention(now);
  },
  timeOutIdle: async (now: number) => {
    await (await engine).timeOutIdle(now);
  },
  writeTraces: async (message: TracesMessage) => await (await engine).writeTraces(message),
  readTrace: reads.known(async (userId: string, traceId: string, abort?: AbortSignal) => {
    const found = await (await engine).readTrace(userId, traceId, abort);
    return found === null ? null : new Transfer(found, [found.page.json.buffer]);
  }),
  readSpans: reads.known(async (userId: string, cursor: SpanCursor, abort?: AbortSignal) => {
    const page = await (await engine).readSpans(userId, cursor, abort);
    return new Transfer(page, [page.json.buffer]);
  }),
  writePoints: async (message: PointsMessage) => await (await engine).writePoints(message),
  queryMetric: reads.known(async (userId: string, name: string, filter: PointFilter, abort?: AbortSignal) => {
    const found = await (await engine).queryMetric(userId, name, filter, abort);
    return found === null ? null : new Transfer(found, [found.page.json.buffer]);
  }),
  readPoints: reads.known(
    async (userId: string, name: string, filter: PointFilter, cursor: PointsCursor, abort?: AbortSignal) => {
      const page = await (await engine).readPoints(userId, name, filter, cursor, abort);
      return new Transfer(page, [page.json.buffer]);
    },
  ),
  writeLogs: async (message: LogsMessage) => await (await engine).writeLogs(message),
  serviceMap: reads.known(async (userId: string, since: number | null, abort?: AbortSignal) => {
    const map = await (await engine).serviceMap(userId, since, abort);
    return new Transfer(map, [map.nodes.json.buffer, map.edges.json.buffer]);
  }),
  readMap: reads.known(
    async (
      userId: string,
      since: number | null,
      list: MapList,
      after: readonly string[],
      abort?: AbortSignal,
    ) => {
      const page = await (await engine).readMap(userId, since, list, after, abort);
      return new Transfer(page, [page.json.buffer]);
    },
  ),
  searchLogs: reads.known(async (userId: string, filter: LogFilter, page: LogPage, abort?: AbortSignal) => {
    const found = await (await engine).searchLogs(userId, filter, page, abort);
    return new Transfer(found, [found.slice.json.buffer]);
  }),
  readLogs: reads.known(
    async (userId: string, keys: readonly LogKey[], details: boolean, abort?: AbortSignal) => {
      const slice = await (await engine).readLogs(userId, keys, details, abort);
      return new Transfer(slice, [slice.json.buffer]);
    },
  ),
  store: reads.known(async (method: StoreMethod, ...args: unknown[]) => {
    const target = await engine;
    return await (target[method] as (...values: unknown[]) => unknown).apply(target, args);
  }),
  meta: async (method: MetaMethod, ...args: unknown[]) => {
    const { meta } = await engine;
    return await ofMainFile(() => (meta[method] as (...values: unknown[]) => unknown).apply(meta, args));
  },
  events: async (method: EventMethod, ...args: unknown[]) => {
    const { events } = await engine;
    return await ofMainFile(() => (events[method] as (...values: unknown[]) => unknown).apply(events, args));
  },
  observations: reads.known(async (method: ObservationMethod, ...args: unknown[]) => {
    const { observations } = await engine;
    return await (observations[method] as (...values: unknown[]) => unknown).apply(observations, args);
  }),
  deliveries: async (method: DeliveryMethod, ...args: unknown[]) => {
    const { deliveries } = (await engine).meta;
    return await ofMainFile(() =>
      (deliveries[method] as (...values: unknown[]) => unknown).apply(deliveries, args),
    );
  },
  openSender: async (limits: SenderLimits, senderPort: MessagePort) => {
    const { deliveries } = (await engine).meta;
    serveSender(deliveries, limits, senderPort);
  },
  alerts: async (method: AlertMethod, ...args: unknown[]) => {
    const { alerts } = (await engine).meta;
    return await ofMainFile(() => (alerts[method] as (...values: unknown[]) => unknown).apply(alerts, args));
  },
});

/** Does what is asked of the main file. @throws ConflictError, ConsumeError */
async function ofMainFile(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ConflictError ? error : storageFailure(error);
  }
}

/** Methods of the engine whose arguments and results are small plain data. */
export type StoreMethod =
  | 'setOutcome'
  | 'listRuns'
  | 'readRuns'
  | 'listAgents'
  | 'findAgents'
  | 'readAgent'
  | 'agentDays'
  | 'compareAgents'
  | 'listModels'
  | 'listMetrics'
  | 'readLogTrace'
  | 'linkPrompt'
  | 'comparePrompts'
  | 'usage'
  | 'rebuildMap';
export type MetaMethod = Exclude<
  keyof StoreEngine['meta'],
  | 'interests'
  | 'events'
  | 'readers'
  | 'deliveries'
  | 'alerts'
  | 'clockNotes'
  | 'tenantOf'
  | 'userOf'
  | 'limitOf'
  | 'promptNumber'
  | 'promptVersions'
  | 'idle'
>;
export type EventMethod = keyof StoreEngine['events'];
export type ObservationMethod = keyof StoreEngine['observations'];
export type DeliveryMethod = Exclude<keyof StoreEngine['meta']['deliveries'], 'pushTo'>;
export type AlertMethod = Exclude<keyof StoreEngine['meta']['alerts'], 'load' | 'removeBefore'>;
