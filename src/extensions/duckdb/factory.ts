import { Type, type Static } from 'typebox';
import type { ExtensionFactory } from '../../component/factory.js';
import { durationMs } from '../../config/duration.js';
import { duration, filePath, section, size } from '../../config/schema.js';
import { sizeBytes } from '../../config/size.js';
import { DuckDBStore } from '../../storage/duckdb/store.js';

const DAY_MS = 86_400_000;
/** A segment with its log replayed needs about this much. */
const LEAST_MEMORY = 64 * 1024 * 1024;

const configSchema = section({
  path: filePath({
    default: './data/jackdaw.duckdb',
    description: 'The main file of the store. The files with the telemetry lie beside it, under its name.',
  }),
  memory_limit: size({
    default: '512MiB',
    description:
      'Memory that DuckDB may take. What does not fit is written beside the store for the time being.',
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
    description: 'Batches that may wait for their commit. More is refused with 503, to be sent again.',
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
    { description: 'How long what was stored is kept.' },
  ),
});

/** The embedded store: `README.md` beside this file. */
export const duckdbExtension: ExtensionFactory<typeof configSchema> = {
  kind: 'extension',
  type: 'duckdb',
  description: 'The embedded store: telemetry, users and keys in DuckDB files.',
  stability: 'beta',
  configSchema,
  check: (config) => [...memoryProblems(config), ...retentionProblems(config)],
  resources: (config) => [{ kind: 'writable_file', path: config.path }],
  create: (settings) => {
    const { path, memory_limit, threads, max_queue_size, retention } = settings.config;
    return new DuckDBStore(settings, {
      path,
      memoryLimit: `${sizeBytes(memory_limit)}B`,
      threads,
      maxQueueBytes: sizeBytes(max_queue_size),
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

function retentionProblems(config: Static<typeof configSchema>): { path: string; message: string }[] {
  return Object.entries(config.retention).flatMap(([name, kept]) => {
    const days = durationMs(kept) / DAY_MS;
    if (Number.isInteger(days) && days >= 1) return [];
    return [{ path: `/retention/${name}`, message: 'must be a number of whole days, at least one: 30d' }];
  });
}

function retentionDays(kept: string | undefined): number | null {
  return kept === undefined ? null : durationMs(kept) / DAY_MS;
}
