import { ConsumeError } from '../../../component/consume-error.js';
import type { ConsumeContext, Receipt } from '../../../component/consumer.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../../../signal/batch.js';
import { TOO_MANY_METRICS } from '../../contracts/metrics.js';
import type { EncodedBatch, EncodedWrites, TelemetryWriter } from '../../contracts/telemetry-writer.js';
import type { WriteAnswer } from '../write/commit-queue.js';
import { traceIdsOf, type EncodedTraces, type TracesMessage } from '../../incoming/encode-traces.js';
import { BatchEncoder } from '../write/batch-encoder.js';
import type { EncodedLogs } from '../write/encode-logs.js';
import { tracesOfScores } from '../../incoming/score-rows.js';
import { nameOfBatch, type BatchName } from '../../shared/batch-name.js';
import type { NamedPrompts, PromptMessage } from '../../incoming/prompt-message.js';
import type { MeasuredBytes } from '../../shared/measured-bytes.js';
import { emitScores } from '../../shared/run-events.js';
import type { StoreMetrics } from './store-metrics.js';
import type { Opened, StoreHandle } from './store-handle.js';
import type { LocalChangeFeed } from '../../shared/local-change-feed.js';
import type { StoreUserLimits } from '../../shared/store-user-limits.js';
import type { Micros } from '../../../signal/time.js';
import type { Charge } from '../../incoming/encode-traces.js';

const NO_REFUSALS: Receipt['refused'] = [];

type TracesOfUser = Omit<TracesMessage, 'tenant' | 'counted'>;

/** The message of a batch to the store thread, without tenant and quota. A promise if parts must be fetched first. */
type MessageOf = (limits: StoreUserLimits) => object | Promise<object>;

/** Writes batches of the daemon's thread and of intake threads, and limits the bytes queued for a commit. */
export class BatchWrites implements TelemetryWriter {
  readonly #encoder = new BatchEncoder();
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
    this.#refuseUnlessOpen();
    return await this.encoded.traces(this.#encoder.traces(batch, context), context);
  }

  async metrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt> {
    this.#refuseUnlessOpen();
    return await this.encoded.metrics(this.#encoder.metrics(batch), context);
  }

  async logs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt> {
    this.#refuseUnlessOpen();
    const notify = this.#arrivals.logsOf(batch.tenant, batch.items);
    const receipt = await this.encoded.logs(this.#encoder.logs(batch, context), context);
    notify?.();
    return receipt;
  }

  readonly encoded = {
    engine: 'duckdb',
    traces: async (batch: EncodedBatch, context: ConsumeContext): Promise<Receipt> => {
      const { tenant, items } = batch;
      const columns = batch.columns as EncodedTraces;
      const notify = this.#arrivals.tracesOf(tenant, () => traceIdsOf(columns));
      const { usage } = await this.#write<WriteAnswer>('writeTraces', batch, context, ({ wanted }) =>
        this.#tracesMessage(columns, tenant, wanted),
      );
      notify?.();
      return receiptOf(items, NO_REFUSALS, usage);
    },
    metrics: async (batch: EncodedBatch, context: ConsumeContext): Promise<Receipt> => {
      type Answer = WriteAnswer & { readonly refused: readonly number[] };
      const answer = await this.#write<Answer>('writePoints', batch, context, () => ({
        ...batch.columns,
        ...named('metrics', context),
      }));
      const refused = answer.refused.map((index) => ({ index, reason: TOO_MANY_METRICS }));
      return receiptOf(batch.items - refused.length, refused, answer.usage);
    },
    logs: async (batch: EncodedBatch, context: ConsumeContext): Promise<Receipt> => {
      const { tenant, items, logs } = batch;
      const columns = batch.columns as EncodedLogs;
      const notify = logs && this.#arrivals.logsOf(tenant, logs.records, logs.unseen);
      const scored = tracesOfScores(columns.scores ?? []);
      const { usage } = await this.#write<WriteAnswer>('writeLogs', batch, context, () => ({
        ...columns,
        ...named('logs', context),
      }));
      notify?.();
      for (const traceId of scored) this.#arrivals.traceChanged(tenant, traceId);
      return receiptOf(items, NO_REFUSALS, usage);
    },
    watchLogListeners: (changed: (userIds: readonly string[]) => void) =>
      this.#arrivals.watchLogListeners(changed),
  } satisfies EncodedWrites;

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
   * @returns the open store
   * @throws ConsumeError `overloaded` if the write queue is full; `storage_unavailable`
   */
  #refuseUnlessOpen(): Opened {
    if (this.#queuedBytes > this.#maxQueueBytes) {
      this.#metrics.refusedBatch();
      throw new ConsumeError('The write queue is full (extensions.duckdb.max_queue_size). Retry later.', {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: 1000,
      });
    }
    return this.#handle.opened;
  }

  /**
   * Sends a batch to the thread.
   *
   * @returns the thread's answer after the commit
   * @throws ConsumeError as {@link #refuseUnlessOpen}
   */
  async #write<T>(
    method: string,
    batch: EncodedBatch,
    { receivedAt }: ConsumeContext,
    message: MessageOf,
  ): Promise<T> {
    const { thread, known, control } = this.#refuseUnlessOpen();
    const { buffers, tenant: userId } = batch;
    const { scores = [] } = batch.columns as Pick<EncodedLogs, 'scores'>;
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
    this.#queuedBytes += bytes;
    let uncount = (): void => undefined;
    let wanted: StoreUserLimits['wanted'] = [];
    let answer: T;
    try {
      const whole = (limits: StoreUserLimits, own: object): object => ({
        ...own,
        tenant: limits.tenant,
        ...chargedMessage(batch, limits, receivedAt),
      });
      const prepare = (limits: StoreUserLimits): object | Promise<object> => {
        wanted = limits.wanted;
        this.#stored.add(limits.tenant, bytes);
        uncount = () => {
          this.#stored.add(limits.tenant, -bytes);
        };
        const own = message(limits);
        return own instanceof Promise ? own.then((own) => whole(limits, own)) : whole(limits, own);
      };
      const admit = (limits: StoreUserLimits): object | Promise<object> =>
        this.#stored.refuseExceeded(limits)?.then(() => prepare(limits)) ?? prepare(limits);
      answer = await known.order.send(
        userId,
        () => {
          const limits = known.users.known(userId);
          return limits === undefined ? known.users.find(userId).then(admit) : admit(limits);
        },
        async (made) => await thread.call<T>(method, [made], { transfer: buffers }),
      );
    } catch (error) {
      uncount();
      throw error;
    } finally {
      this.#queuedBytes -= bytes;
    }
    await emitScores(control.events, { userId, wanted }, scores, receivedAt);
    return answer;
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
  { quota }: Pick<EncodedBatch, 'quota'>,
  { tenant, monthlyLimit }: StoreUserLimits,
  at: Micros,
): { readonly counted?: Charge } {
  if (quota === undefined) return {};
  const limit = monthlyLimit ?? quota.monthly_items;
  return { counted: { tenant, at, limit: limit === 0 ? Infinity : limit } };
}
