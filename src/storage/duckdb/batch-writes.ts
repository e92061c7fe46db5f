import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { Batch, LogsBatch, MetricsBatch, TracesBatch } from '../../signal/batch.js';
import type { ThreadClient } from '../../worker/thread-client.js';
import type { WriteAnswer } from './commit-line.js';
import { countedMessage } from './counted-message.js';
import { TracesEncoder, transferablesOf } from './encode-traces.js';
import { LogsEncoder, transferablesOf as transferablesOfLogs } from './logs/encode-logs.js';
import {
  MAX_STREAMS_OF_TENANT,
  PointsEncoder,
  transferablesOf as transferablesOfPoints,
} from './metrics/encode-points.js';
import type { StoreMetrics } from './store-metrics.js';

const NO_REFUSALS: Receipt['refused'] = [];
const TOO_MANY_METRICS = `/stream/name: is one metric more than a user may have, which is ${MAX_STREAMS_OF_TENANT}, or fewer with very long names and descriptions`;

/** A batch as it crosses to the store thread, and the buffers in it that are handed over. */
interface Encoded {
  readonly message: object;
  readonly buffers: readonly ArrayBuffer[];
}

/** The way of batches to the store thread: encodes them, and bounds what waits for its commit. */
export class BatchWrites {
  readonly #traces = new TracesEncoder();
  readonly #points = new PointsEncoder();
  readonly #logs = new LogsEncoder();
  readonly #maxQueueBytes: number;
  readonly #metrics: StoreMetrics;
  readonly #thread: () => ThreadClient;
  #queuedBytes = 0;

  /** @param thread that of the open store; throws where there is none */
  constructor(maxQueueBytes: number, metrics: StoreMetrics, thread: () => ThreadClient) {
    this.#maxQueueBytes = maxQueueBytes;
    this.#metrics = metrics;
    this.#thread = thread;
  }

  /** Of encoded batches that wait for their commit. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  async traces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt> {
    const { length } = batch.items;
    const { usage } = await this.#write<WriteAnswer>('writeTraces', batch, context, () => {
      const message = this.#traces.encode(batch, context.receivedAt);
      return { message, buffers: transferablesOf(message) };
    });
    return receiptOf(length, NO_REFUSALS, usage);
  }

  async points(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt> {
    const { length } = batch.items;
    type Answer = WriteAnswer & { readonly refused: readonly number[] };
    const answer = await this.#write<Answer>('writePoints', batch, context, () => {
      const message = this.#points.encode(batch);
      return { message, buffers: transferablesOfPoints(message) };
    });
    const refused = answer.refused.map((index) => ({ index, reason: TOO_MANY_METRICS }));
    return receiptOf(length - refused.length, refused, answer.usage);
  }

  async logs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt> {
    const { length } = batch.items;
    const { usage } = await this.#write<WriteAnswer>('writeLogs', batch, context, () => {
      const message = this.#logs.encode(batch);
      return { message, buffers: transferablesOfLogs(message) };
    });
    return receiptOf(length, NO_REFUSALS, usage);
  }

  /**
   * Hands a batch to the thread.
   *
   * @returns what it says after the commit
   * @throws ConsumeError `overloaded` where too much waits already: before anything is encoded
   */
  async #write<T>(
    method: string,
    batch: Batch<unknown>,
    { receivedAt }: ConsumeContext,
    encode: () => Encoded,
  ): Promise<T> {
    if (this.#queuedBytes > this.#maxQueueBytes) {
      this.#metrics.refusedBatch();
      throw new ConsumeError('More is waiting for the store than extensions.duckdb.max_queue_size allows.', {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: 1000,
      });
    }
    const { message, buffers } = encode();
    const thread = this.#thread();
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
    this.#queuedBytes += bytes;
    try {
      return await thread.call<T>(method, [{ ...message, ...countedMessage(batch, receivedAt) }], {
        transfer: buffers,
      });
    } finally {
      this.#queuedBytes -= bytes;
    }
  }
}

function receiptOf(accepted: number, refused: Receipt['refused'], usage: Receipt['usage']): Receipt {
  return { accepted, refused, ...(usage && { usage }) };
}
