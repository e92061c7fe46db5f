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
/** With less hardly any read would be answered while the machine is busy. */
const LEAST_READ_MS = 100;

const configSchema = section({
  path: filePath({
    default: './data/jackdaw.duckdb',
    description: 'The main file of the store. The files with the telemetry lie beside it, under its name.',
  }),
  control: extensionId({
    default: 'sqlite',
    description: 'The extension that keeps users and prompts: rows carry its numbers of them.',
  }),
  memory_limit: size({
    default: '512MiB',
    description: 'Memory that DuckDB may use. What does not fit is temporarily written beside the store.',
  }),
  threads: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 64,
    description:
      "Threads of DuckDB for one query. On a machine of two cores a second one takes the writer's core.",
  }),
  max_queue_size: size({
    default: '128MiB',
    description:
      'Size of the batches that may wait for their commit. More is refused with 503, to be sent again.',
  }),
  max_waiting_segments: Type.Integer({
    default: 24,
    minimum: 2,
    maximum: 1000,
    description:
      'Full segments that may wait to be moved into the cold file. From half this number on writes slow down; beyond it they are refused with 503.',
  }),
  reserve: size({
    default: '64MiB',
    description:
      'Room reserved on the disk, in a file beside the store, for what has to be done when the disk is full: the file is then removed, and writes are refused with 503 until there is room for it again. 0: none.',
  }),
  read_timeout: duration({
    default: '30s',
    description:
      'How long one read may take, and how long it may wait for its turn before that. Then it is ended and answered with 503, to be tried again.',
  }),
  max_reads: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: 16,
      description:
        'Reads of users at a time. Absent: one more than the machine has cores. One user never has all of them.',
    }),
  ),
  max_waiting_reads: Type.Integer({
    default: 1000,
    minimum: 1,
    maximum: 100_000,
    description: 'Reads that may wait for their turn. More are refused with 503.',
  }),
  max_waiting_reads_per_user: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 100_000,
    description: 'How many of these may belong to one user.',
  }),
  max_run_spans: Type.Integer({
    default: 100_000,
    minimum: 1000,
    maximum: 1_000_000,
    description:
      "How many spans of a run its usage, its agent and the service map follow. Further ones are stored and can be read; the run's status and times go on following them.",
  }),
  max_agents: Type.Integer({
    default: MOST_AGENTS,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Agents that a user may have. Runs of further agents are kept under the agent (other).',
  }),
  accept_loss: Type.Boolean({
    default: false,
    description: 'Starts without missing files of the store, as jackdaw run --accept-loss does.',
  }),
  retention: section(
    {
      traces: Type.Optional(
        duration({
          description: 'How long traces are kept, in whole UTC days by their start. Absent: for ever.',
        }),
      ),
      metrics: Type.Optional(
        duration({
          description: 'How long metric points are kept, in whole UTC days by their time. Absent: for ever.',
        }),
      ),
      logs: Type.Optional(
        duration({
          description: 'How long log records are kept, in whole UTC days by their time. Absent: for ever.',
        }),
      ),
      events: Type.Optional(
        duration({
          description: 'How long events are kept, in whole UTC days by their time. Absent: for ever.',
        }),
      ),
    },
    { description: 'How long stored data is kept.' },
  ),
});

/** The embedded store: `README.md` beside this file. */
export const duckdbExtension: ExtensionFactory<typeof configSchema> = {
  kind: 'extension',
  type: 'duckdb',
  description: 'The embedded store: telemetry in DuckDB files.',
  stability: 'beta',
  configSchema,
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
    return [{ path: `/retention/${name}`, message: 'must be a number of whole days, at least one: 30d' }];
  });
}

function retentionDays(kept: string | undefined): number | null {
  return kept === undefined ? null : durationMs(kept) / MS_PER_DAY;
}
