import { ConsumeError } from '../../../component/consume-error.js';
import type { ConsumeContext, Receipt } from '../../../component/consumer.js';
import type { Batch, LogsBatch, MetricsBatch, TracesBatch } from '../../../signal/batch.js';
import { TOO_MANY_METRICS } from '../../contracts/metrics.js';
import type { TelemetryWriter } from '../../contracts/telemetry-writer.js';
import type { WriteAnswer } from '../write/commit-queue.js';
import {
  TracesEncoder,
  transferablesOf,
  type EncodedTraces,
  type TracesMessage,
} from '../../incoming/encode-traces.js';
import { LogsEncoder, transferablesOf as transferablesOfLogs } from '../write/encode-logs.js';
import { PointsEncoder, transferablesOf as transferablesOfPoints } from '../write/encode-points.js';
import { tracesOfScores } from '../../incoming/score-rows.js';
import { nameOfBatch, type BatchName } from '../../shared/batch-name.js';
import type { NamedPrompts, PromptMessage } from '../../incoming/prompt-message.js';
import type { MeasuredBytes } from '../../shared/measured-bytes.js';
import type { StoreMetrics } from './store-metrics.js';
import type { StoreHandle } from './store-handle.js';
import type { LocalChangeFeed } from '../../shared/local-change-feed.js';
import type { StoreUserLimits } from '../../shared/store-user-limits.js';
import type { Micros } from '../../../signal/time.js';
import type { Charge } from '../../incoming/encode-traces.js';

const NO_REFUSALS: Receipt['refused'] = [];

type TracesOfUser = Omit<TracesMessage, 'tenant' | 'counted'>;

/** A batch encoded as columns, and the buffers that are transferred with it. */
interface Encoded {
  readonly buffers: readonly ArrayBuffer[];
  /** The message to the store thread, without tenant and quota. A promise if parts must be fetched first. */
  readonly message: (limits: StoreUserLimits) => object | Promise<object>;
}

/** The contract `TelemetryWriter` for the daemon's thread: encodes batches, and limits the bytes queued for a commit. */
export class BatchWrites implements TelemetryWriter {
  readonly #traces = new TracesEncoder();
  readonly #points = new PointsEncoder();
  readonly #logs = new LogsEncoder();
  readonly #maxQueueBytes: number;
  readonly #metrics: StoreMetrics;
  readonly #handle: StoreHandle;
  readonly #arrivals: LocalChangeFeed;
  readonly #stored: MeasuredBytes;
  #queuedBytes = 0;

  constructor(
    maxQueueBytes: number,
    metrics: StoreMetrics,
    handle: StoreHandle,
    { arrivals, stored }: { readonly arrivals: LocalChangeFeed; readonly stored: MeasuredBytes },
  ) {
    this.#maxQueueBytes = maxQueueBytes;
    this.#metrics = metrics;
    this.#handle = handle;
    this.#arrivals = arrivals;
    this.#stored = stored;
  }

  /** Bytes of encoded batches that are queued for a commit. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  async traces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt> {
    const { length } = batch.items;
    const notify = this.#arrivals.tracesOf(batch);
    const { usage } = await this.#write<WriteAnswer>('writeTraces', batch, context, () => {
      const encoded = this.#traces.encode(batch, context.receivedAt);
      return {
        buffers: transferablesOf(encoded),
        message: ({ wanted }) => this.#tracesMessage(encoded, batch.tenant, wanted),
      };
    });
    notify?.();
    return receiptOf(length, NO_REFUSALS, usage);
  }

  async metrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt> {
    const { length } = batch.items;
    type Answer = WriteAnswer & { readonly refused: readonly number[] };
    const answer = await this.#write<Answer>('writePoints', batch, context, () => {
      const encoded = this.#points.encode(batch);
      return {
        buffers: transferablesOfPoints(encoded),
        message: () => ({ ...encoded, ...named('metrics', context) }),
      };
    });
    const refused = answer.refused.map((index) => ({ index, reason: TOO_MANY_METRICS }));
    return receiptOf(length - refused.length, refused, answer.usage);
  }

  async logs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt> {
    const { length } = batch.items;
    const notify = this.#arrivals.logsOf(batch);
    let scored: ReadonlySet<string> = new Set();
    const { usage } = await this.#write<WriteAnswer>('writeLogs', batch, context, () => {
      const encoded = this.#logs.encode(batch, context.receivedAt);
      scored = tracesOfScores(encoded.scores ?? []);
      return {
        buffers: transferablesOfLogs(encoded),
        message: () => ({ ...encoded, ...named('logs', context) }),
      };
    });
    notify?.();
    for (const traceId of scored) this.#arrivals.traceChanged(batch.tenant, traceId);
    return receiptOf(length, NO_REFUSALS, usage);
  }

  #tracesMessage(
    { named, map, ...rows }: EncodedTraces,
    userId: string,
    wanted: StoreUserLimits['wanted'],
  ): TracesOfUser | Promise<TracesOfUser> {
    const own = { ...rows, wanted, ...(map && { map }) };
    return named === null ? own : this.#promptsOf(userId, named).then((prompts) => ({ ...own, prompts }));
  }

  async #promptsOf(userId: string, { references, spans }: NamedPrompts): Promise<PromptMessage> {
    const { prompts } = this.#handle.opened.known;
    const numbers = prompts.known(userId, references) ?? (await prompts.find(userId, references));
    return { numbers, spans };
  }

  /**
   * Sends a batch to the thread. It is encoded synchronously, so the caller may change it afterwards.
   *
   * @returns the thread's answer after the commit
   * @throws ConsumeError `overloaded` if the write queue is full; thrown before encoding
   */
  async #write<T>(
    method: string,
    batch: Batch<unknown>,
    { receivedAt }: ConsumeContext,
    encode: () => Encoded,
  ): Promise<T> {
    if (this.#queuedBytes > this.#maxQueueBytes) {
      this.#metrics.refusedBatch();
      throw new ConsumeError('The write queue is full (extensions.duckdb.max_queue_size). Retry later.', {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: 1000,
      });
    }
    const { thread, known } = this.#handle.opened;
    const { message, buffers } = encode();
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
    this.#queuedBytes += bytes;
    let uncount = (): void => undefined;
    try {
      const whole = (limits: StoreUserLimits, own: object): object => ({
        ...own,
        tenant: limits.tenant,
        ...chargedMessage(batch, limits, receivedAt),
      });
      const prepare = (limits: StoreUserLimits): object | Promise<object> => {
        this.#stored.add(limits.tenant, bytes);
        uncount = () => {
          this.#stored.add(limits.tenant, -bytes);
        };
        const own = message(limits);
        return own instanceof Promise ? own.then((own) => whole(limits, own)) : whole(limits, own);
      };
      const admit = (limits: StoreUserLimits): object | Promise<object> =>
        this.#stored.refuseExceeded(limits)?.then(() => prepare(limits)) ?? prepare(limits);
      return await known.order.send(
        batch.tenant,
        () => {
          const limits = known.users.known(batch.tenant);
          return limits === undefined ? known.users.find(batch.tenant).then(admit) : admit(limits);
        },
        async (made) => await thread.call<T>(method, [made], { transfer: buffers }),
      );
    } catch (error) {
      uncount();
      throw error;
    } finally {
      this.#queuedBytes -= bytes;
    }
  }
}

/** Spans need no batch names: their ids identify them. */
function named(
  signal: 'metrics' | 'logs',
  { batch, receivedAt }: ConsumeContext,
): { readonly name?: BatchName } {
  return batch === undefined ? {} : { name: nameOfBatch(signal, batch.id, receivedAt) };
}

function receiptOf(accepted: number, refused: Receipt['refused'], usage: Receipt['usage']): Receipt {
  return { accepted, refused, ...(usage && { usage }) };
}

/**
 * The quota part of a batch's message; empty if the batch is not counted. The user's own limit overrides that of the batch; 0
 * means unlimited.
 *
 * @param at when the batch arrived, which determines its month
 */
function chargedMessage(
  { quota }: Pick<Batch<unknown>, 'quota'>,
  { tenant, monthlyLimit }: StoreUserLimits,
  at: Micros,
): { readonly counted?: Charge } {
  if (quota === undefined) return {};
  const limit = monthlyLimit ?? quota.monthly_items;
  return { counted: { tenant, at, limit: limit === 0 ? Infinity : limit } };
}
