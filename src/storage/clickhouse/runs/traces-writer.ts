import type { ConsumeContext, Receipt } from '../../../component/consumer.js';
import type { TracesBatch } from '../../../signal/batch.js';
import type { EncodedBatch } from '../../contracts/telemetry-writer.js';
import { traceIdsOf, TracesEncoder, type EncodedTraces } from '../../incoming/encode-traces.js';
import { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { Micros } from '../../../signal/time.js';
import type { ScoreRow } from '../../incoming/score-rows.js';
import type { MeasuredBytes } from '../../shared/measured-bytes.js';
import type { StoreUserLimits } from '../../shared/store-user-limits.js';
import type { CallOrder } from '../../shared/call-order.js';
import type { RunQueue } from './run-queue.js';

const NO_REFUSALS: Receipt['refused'] = [];

export interface WriterParts {
  readonly queue: Pick<RunQueue, 'write'>;
  /** Keeps the writes of a user in call order. */
  readonly order: Pick<CallOrder, 'send'>;
  readonly limitsOf: (userId: string) => StoreUserLimits | Promise<StoreUserLimits>;
  /** The numbers of prompt versions; null for one that the user does not have. */
  readonly promptNumbers: (
    userId: string,
    references: readonly { readonly name: string; readonly version: number }[],
  ) => readonly (number | null)[] | Promise<readonly (number | null)[]>;
  /** Announces the batch to listeners. @returns a function to call once it is stored */
  readonly arriving: (userId: string, traceIds: readonly string[]) => (() => void) | undefined;
  readonly stored: Pick<MeasuredBytes, 'refuseExceeded' | 'add'>;
  /** Writes the scores that came with spans. */
  readonly scores: (tenant: number, scores: readonly ScoreRow[], receivedAt: Micros) => Promise<void>;
  /** Called with the sender of each batch. */
  readonly sent?: (userId: string, tenant: number) => void;
}

/** Writes batches of traces: `TelemetryWriter.traces`. */
export class TracesWriter {
  readonly #encoder = new TracesEncoder();
  readonly #parts: WriterParts;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  async write(batch: TracesBatch, context: ConsumeContext): Promise<Receipt> {
    const { tenant, quota, items } = batch;
    // Before the first `await`: the caller may change the batch afterwards.
    const columns = this.#encoder.encode(batch, context.receivedAt);
    const encoded = { tenant, items: items.length, columns, buffers: [], ...(quota && { quota }) };
    return await this.writeEncoded(encoded, context);
  }

  /** @param batch.columns of a {@link TracesEncoder} */
  async writeEncoded(batch: EncodedBatch, { receivedAt }: ConsumeContext): Promise<Receipt> {
    const { tenant: userId, quota, items: length } = batch;
    if (length === 0) return { accepted: 0, refused: NO_REFUSALS };
    const { named, map, ...rows } = batch.columns as EncodedTraces;
    const traceIds = traceIdsOf(rows);
    const notify = this.#parts.arriving(userId, traceIds);
    const { queue, order, stored } = this.#parts;
    const prepare = async (): Promise<IncomingBatch> => {
      const limits = await this.#parts.limitsOf(userId);
      const { tenant, monthlyLimit } = limits;
      await stored.refuseExceeded(limits);
      this.#parts.sent?.(userId, tenant);
      const limit = monthlyLimit ?? quota?.monthly_items ?? 0;
      const prompts = named && {
        numbers: await this.#parts.promptNumbers(userId, named.references),
        spans: named.spans,
      };
      return new IncomingBatch({
        ...rows,
        tenant,
        wanted: [],
        ...(map && { map }),
        ...(quota && { counted: { tenant, at: receivedAt, limit: limit === 0 ? Infinity : limit } }),
        ...(prompts && { prompts }),
      });
    };
    const { usage } = await order.send(userId, prepare, async (incoming) => {
      const { tenant, bytes, scores } = incoming;
      stored.add(tenant, bytes);
      try {
        const answer = await queue.write({ kind: 'batch', batch: incoming, traceIds });
        // If this fails, the client repeats the batch, and its spans add nothing.
        await this.#parts.scores(tenant, scores, receivedAt);
        return answer;
      } catch (error) {
        stored.add(tenant, -bytes);
        throw error;
      }
    });
    notify?.();
    return { accepted: length, refused: NO_REFUSALS, ...(usage && { usage }) };
  }
}
