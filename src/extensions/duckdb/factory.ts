import { Type, type Static } from 'typebox';
import type { ExtensionFactory } from '../../component/factory.js';
import { durationMs } from '../../config/duration.js';
import { duration, extensionId, filePath, section, size } from '../../config/schema.js';
import { sizeBytes } from '../../config/size.js';
import { MOST_AGENTS } from '../../storage/duckdb/stats/agent-limit.js';
import { DuckDBStore } from '../../storage/duckdb/client/store.js';
import { MS_PER_DAY } from '../../signal/time-units.js';

/** A segment with its log replayed needs about this much. */
const LEAST_MEMORY = 64 * 1024 * 1024;
/** With less, hardly any read would finish while the machine is busy. */
const LEAST_READ_MS = 100;

const configSchema = section({
  path: filePath({
    default: './data/jackdaw.duckdb',
    description: 'Main file of the store. Telemetry files are stored next to it with the same name prefix.',
  }),
  control: extensionId({
    default: 'sqlite',
    description: 'Id of the control store whose user and prompt ids the rows reference.',
  }),
  memory_limit: size({
    default: '512MiB',
    memoryShare: { share: 1 / 4, least: '128MiB' },
    description: 'Memory limit of DuckDB. Larger intermediate results spill to disk next to the store.',
  }),
  threads: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 64,
    description: 'DuckDB threads per query. On two cores, a second thread competes with the writer.',
  }),
  max_queue_size: size({
    default: '128MiB',
    memoryShare: { share: 1 / 32, least: '8MiB' },
    description: 'Size of the write queue. When it is full, requests get a retryable 503.',
  }),
  max_waiting_segments: Type.Integer({
    default: 24,
    minimum: 2,
    maximum: 1000,
    description:
      'Full segments waiting for compaction. Writes slow down at half this number and get 503 above it.',
  }),
  reserve: size({
    default: '64MiB',
    description: 'Disk space reserved for operation on a full disk, when writes get 503. 0: no reserve.',
  }),
  read_timeout: duration({
    default: '30s',
    description: 'Time limit for a read, and for its wait in the queue. Afterwards it gets a retryable 503.',
  }),
  max_reads: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: 16,
      description:
        'Concurrent reads; one user never gets all of them. Default: the number of cores plus one.',
    }),
  ),
  max_waiting_reads: Type.Integer({
    default: 1000,
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum number of queued reads. When reached, reads get 503.',
  }),
  max_waiting_reads_per_user: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum number of queued reads per user.',
  }),
  max_run_spans: Type.Integer({
    default: 10_000,
    minimum: 1000,
    maximum: 1_000_000,
    description:
      'Spans per run that update its agent, session and map. Beyond it, usage sums model calls only.',
  }),
  max_agents: Type.Integer({
    default: MOST_AGENTS,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Maximum number of agents per user. Runs of further agents are stored under the agent (other).',
  }),
  accept_loss: Type.Boolean({
    default: false,
    description: 'Whether to start although store files are missing, like jackdaw run --accept-loss.',
  }),
  retention: section(
    {
      traces: Type.Optional(
        duration({
          description:
            'Retention of traces, in whole UTC days by start time. If absent, they are kept forever.',
        }),
      ),
      metrics: Type.Optional(
        duration({
          description: 'Retention of metric points, in whole UTC days. If absent, they are kept forever.',
        }),
      ),
      logs: Type.Optional(
        duration({
          description: 'Retention of log records, in whole UTC days. If absent, they are kept forever.',
        }),
      ),
      events: Type.Optional(
        duration({
          description: 'Retention of events, in whole UTC days. If absent, they are kept forever.',
        }),
      ),
    },
    { description: 'Retention of stored data.' },
  ),
});

/** The embedded store. See `README.md` in this folder. */
export const duckdbExtension: ExtensionFactory<typeof configSchema> = {
  kind: 'extension',
  type: 'duckdb',
  description: 'Embedded telemetry store in DuckDB files.',
  stability: 'beta',
  configSchema,
  encodedSignals: ['traces', 'metrics', 'logs'],
  check: (config) => [...memoryProblems(config), ...readProblems(config), ...retentionProblems(config)],
  resources: (config) => [{ kind: 'writable_file', path: config.path, isExclusive: true }],
  create: (settings) => {
    const { path, control, memory_limit, threads, max_queue_size, read_timeout, retention } = settings.config;
    const { max_reads, max_waiting_reads, max_waiting_reads_per_user } = settings.config;
    const { max_run_spans, max_agents, max_waiting_segments, reserve } = settings.config;
    return new DuckDBStore(settings, {
      path,
      control,
      memoryLimit: `${sizeBytes(memory_limit)}B`,
      threads,
      acceptsLoss: settings.config.accept_loss,
      maxQueueBytes: sizeBytes(max_queue_size),
      maxWaitingSegments: max_waiting_segments,
      maxAgents: max_agents,
      reserveBytes: sizeBytes(reserve),
      readLimits: {
        atATime: max_reads ?? null,
        maxWaiting: max_waiting_reads,
        maxWaitingOfUser: max_waiting_reads_per_user,
        timeoutMs: durationMs(read_timeout),
      },
      maxRunSpans: max_run_spans,
      traceRetentionDays: retentionDays(retention.traces),
      metricRetentionDays: retentionDays(retention.metrics),
      logRetentionDays: retentionDays(retention.logs),
      eventRetentionDays: retentionDays(retention.events),
    });
  },
};

function memoryProblems(config: Static<typeof configSchema>): { path: string; message: string }[] {
  if (sizeBytes(config.memory_limit) >= LEAST_MEMORY) return [];
  return [{ path: '/memory_limit', message: 'must be at least 64MiB' }];
}

function readProblems(config: Static<typeof configSchema>): { path: string; message: string }[] {
  if (durationMs(config.read_timeout) >= LEAST_READ_MS) return [];
  return [{ path: '/read_timeout', message: 'must be at least 100ms' }];
}

function retentionProblems(config: Static<typeof configSchema>): { path: string; message: string }[] {
  return Object.entries(config.retention).flatMap(([name, kept]) => {
    const days = durationMs(kept) / MS_PER_DAY;
    if (Number.isInteger(days) && days >= 1) return [];
    return [{ path: `/retention/${name}`, message: 'must be a whole number of days, at least one: 30d' }];
  });
}

function retentionDays(kept: string | undefined): number | null {
  return kept === undefined ? null : durationMs(kept) / MS_PER_DAY;
}
