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
          description: 'Send a batch again when that may help. Otherwise the first failure drops it.',
        }),
        initial_interval: duration({ default: '1s', description: 'Wait before the second attempt.' }),
        max_interval: duration({
          default: '30s',
          description:
            'Longest wait between two attempts; it also caps Retry-After, which counts 5m at most.',
        }),
        multiplier: Type.Number({
          default: 1.5,
          minimum: 1,
          maximum: 10,
          description: 'The factor by which each wait is longer than the one before.',
        }),
        randomization_factor: Type.Number({
          default: 0.5,
          minimum: 0,
          maximum: 1,
          description: 'By how much waits vary: 0.5 means from half to one and a half times.',
        }),
        max_elapsed_time: Type.Optional(
          duration({
            description:
              'A batch is given up when its next attempt would come later than this after the first, or with a queue on disk, after it was taken. 0s: never. Default 1h; with a queue on disk never.',
          }),
        ),
        max_attempts: Type.Integer({
          default: 0,
          minimum: 0,
          description: 'A batch is given up after so many attempts. 0: never.',
        }),
      },
      { description: 'What happens to a batch that could not be delivered.' },
    ),
    queue: section(
      {
        type: choice(['memory', 'disk'], {
          default: 'memory',
          description:
            'Where what waits is kept. memory: it is lost with the process. disk: it outlives the process and the machine’s loss of power.',
        }),
        directory: filePath({
          default: './data/queue',
          description:
            'With type disk: the directory, in which every exporter has one of its own, named by its id.',
        }),
        max_bytes: size({
          default: '10GiB',
          description: 'With type disk: how much of the disk all signals of the exporter may take together.',
        }),
        sync: choice(['always', 'interval'], {
          default: 'always',
          description:
            'With type disk, when it is forced to the disk. always: before the sender is answered, once for all that wait. interval: every second, so that a loss of power costs the last second, and a crash of the process nothing.',
        }),
        dead_letters: section(
          {
            max_bytes: size({
              default: '1GiB',
              description: 'How much of the disk they may take; the oldest are dropped and counted.',
            }),
          },
          {
            description:
              'With type disk: what could not be delivered, with the reason. See jackdaw dead-letters.',
          },
        ),
        max_items: Type.Integer({
          default: 100_000,
          minimum: 1,
          description:
            'Traces, metric points or log records that may wait in memory, including those being sent. With type disk the others wait on disk.',
        }),
        max_size: size({ default: '64MiB', description: 'How much memory those may take, roughly.' }),
        concurrency: Type.Integer({
          default: defaults.concurrency ?? 4,
          minimum: 1,
          maximum: 64,
          description:
            'Batches sent at the same time. With 1 they arrive in the order in which they were taken.',
        }),
        batch: section(
          {
            max_items: Type.Integer({ default: 8192, minimum: 1, description: 'Most items of one batch.' }),
            max_size: size({
              default: '4MiB',
              description: 'Largest batch, as it lies in memory. A single item may be larger.',
            }),
            max_wait: duration({
              default: defaults.batchWait ?? '200ms',
              description:
                'How long a batch that is not full waits for more. With type disk it waits only for the disk.',
            }),
          },
          {
            description: 'How waiting items are combined into batches. Those of different users stay apart.',
          },
        ),
      },
      { description: 'The queue of what waits to be delivered, for each signal.' },
    ),
  };
}

export interface BatchLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

/** Where and how a queue lies on disk. */
export interface DiskOptions {
  readonly directory: string;
  readonly maxBytes: number;
  readonly sync: 'always' | 'interval';
  readonly maxDeadLetterBytes: number;
}

export interface DeliveryOptions {
  readonly timeoutMs: number;
  readonly retry: RetryOptions;
  /** The limits of everything that waits in memory, for one signal. */
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
 * @throws Error where the schema has keys of these names that are not {@link deliveryKeys}, or lacks them
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
