import { Type, type Static, type TObject } from 'typebox';
import { durationMs } from '../../config/duration.js';
import { choice, duration, filePath, section, size } from '../../config/schema.js';
import { sizeBytes } from '../../config/size.js';
import type { RetryOptions } from '../backoff.js';

/** Defaults that an exporter may change. */
export interface DeliveryDefaults {
  readonly timeout?: string;
  readonly concurrency?: number;
  readonly batchWait?: string;
}

/**
 * The keys `timeout`, `retry` and `queue`, which the schema of every exporter with `delivery: 'queued'` includes:
 * `section({ endpoint: …, ...deliveryKeys() })`. The engine reads them; the exporter need not.
 */
export function deliveryKeys(defaults: DeliveryDefaults = {}) {
  return {
    timeout: duration({
      default: defaults.timeout ?? '30s',
      description: 'Time limit for one attempt to deliver a batch.',
    }),
    retry: section(
      {
        enabled: Type.Boolean({
          default: true,
          description:
            'Whether to retry after temporary failures. If false, the first failure drops the batch.',
        }),
        initial_interval: duration({ default: '1s', description: 'Wait before the first retry.' }),
        max_interval: duration({
          default: '30s',
          description: 'Longest wait between two attempts. It also caps Retry-After (never above 5m).',
        }),
        multiplier: Type.Number({
          default: 1.5,
          minimum: 1,
          maximum: 10,
          description: 'Factor by which the wait grows with each attempt.',
        }),
        randomization_factor: Type.Number({
          default: 0.5,
          minimum: 0,
          maximum: 1,
          description: 'Random variation of waits: 0.5 means from half to one and a half times.',
        }),
        max_elapsed_time: Type.Optional(
          duration({
            description: 'Time after which a batch is dropped. 0s: never. Default: 1h in memory, 0s on disk.',
          }),
        ),
        max_attempts: Type.Integer({
          default: 0,
          minimum: 0,
          description: 'Attempts after which a batch is dropped. 0: no limit.',
        }),
      },
      { description: 'How batches that could not be delivered are retried.' },
    ),
    queue: section(
      {
        type: choice(['memory', 'disk'], {
          default: 'memory',
          description: 'Queue type: memory (lost on exit) or disk (survives a crash or power failure).',
        }),
        directory: filePath({
          default: './data/queue',
          description: 'Directory of disk queues. Each exporter uses a subdirectory named after its id.',
        }),
        max_bytes: size({
          default: '10GiB',
          description: 'Disk space for all signals of the exporter together (type disk).',
        }),
        sync: choice(['always', 'interval'], {
          default: 'always',
          description:
            'When a disk queue calls fsync: always (before responding to the sender) or interval (every second).',
        }),
        dead_letters: section(
          {
            max_bytes: size({
              default: '1GiB',
              description: 'Disk space for dead letters. At the limit, the oldest are dropped and counted.',
            }),
          },
          {
            description: 'Batches that a disk queue could not deliver; see jackdaw dead-letters.',
          },
        ),
        max_items: Type.Integer({
          default: 100_000,
          minimum: 1,
          description: 'Traces, metric points or log records in memory, including those being sent.',
        }),
        max_size: size({
          default: '64MiB',
          memoryShare: { share: 1 / 64, least: '4MiB' },
          description: 'Approximate memory for these items.',
        }),
        concurrency: Type.Integer({
          default: defaults.concurrency ?? 4,
          minimum: 1,
          maximum: 64,
          description:
            'Batches sent concurrently. With 1 they arrive in the order in which they were accepted.',
        }),
        batch: section(
          {
            max_items: Type.Integer({
              default: 8192,
              minimum: 1,
              description: 'Maximum number of items in one batch.',
            }),
            max_size: size({
              default: '4MiB',
              memoryShare: { share: 1 / 256, least: '1MiB' },
              description: 'Maximum size of one batch in memory. A single item may be larger.',
            }),
            max_wait: duration({
              default: defaults.batchWait ?? '200ms',
              description: 'Time that a partial batch waits for more items. Disk queues do not wait.',
            }),
          },
          {
            description: 'How queued items are combined into batches, one user per batch.',
          },
        ),
      },
      { description: 'Queue of items waiting for delivery, one per signal.' },
    ),
  };
}

export interface BatchLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

/** Location and options of a queue on disk. */
export interface DiskOptions {
  readonly directory: string;
  readonly maxBytes: number;
  readonly sync: 'always' | 'interval';
  readonly maxDeadLetterBytes: number;
}

export interface DeliveryOptions {
  readonly timeoutMs: number;
  readonly retry: RetryOptions;
  /** The limits of the queued batches in memory, for one signal. */
  readonly queue: BatchLimits;
  /** Null for a queue in memory. */
  readonly disk: DiskOptions | null;
  readonly concurrency: number;
  readonly batch: BatchLimits & { readonly maxWaitMs: number };
}

type DeliveryConfig = Static<TObject<ReturnType<typeof deliveryKeys>>>;

/**
 * Reads the shared keys of a queued exporter's configuration, which was checked against its schema.
 *
 * @throws Error if the schema has keys of these names that are not {@link deliveryKeys}, or lacks them
 */
export function deliveryOptions(config: Readonly<Record<string, unknown>>): DeliveryOptions {
  try {
    // Only a plugin that wrote these keys itself can make this cast wrong; then one of the readers below throws.
    return readOptions(config as DeliveryConfig);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `an exporter with delivery: queued must take queue, retry and timeout from deliveryKeys() (${reason})`,
      { cause },
    );
  }
}

function readOptions({ timeout, retry, queue }: DeliveryConfig): DeliveryOptions {
  const isOnDisk = queue.type === 'disk';
  return {
    timeoutMs: durationMs(timeout),
    retry: {
      isEnabled: retry.enabled,
      initialMs: durationMs(retry.initial_interval),
      maxMs: durationMs(retry.max_interval),
      multiplier: retry.multiplier,
      jitter: retry.randomization_factor,
      maxElapsedMs: durationMs(retry.max_elapsed_time ?? (isOnDisk ? '0s' : '1h')),
      maxAttempts: retry.max_attempts,
    },
    queue: { maxItems: queue.max_items, maxBytes: sizeBytes(queue.max_size) },
    disk: isOnDisk
      ? {
          directory: queue.directory,
          maxBytes: sizeBytes(queue.max_bytes),
          sync: queue.sync,
          maxDeadLetterBytes: sizeBytes(queue.dead_letters.max_bytes),
        }
      : null,
    concurrency: queue.concurrency,
    batch: {
      maxItems: queue.batch.max_items,
      maxBytes: sizeBytes(queue.batch.max_size),
      maxWaitMs: durationMs(queue.batch.max_wait),
    },
  };
}
