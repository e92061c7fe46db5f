import { ConsumeError } from '../component/consume-error.js';
import type { Consumer } from '../component/consumer.js';
import type { Rejections } from '../component/rejections.js';
import { failureOf } from '../http/problem.js';
import type { Batch, Signal } from '../signal/batch.js';
import type { LogRecord } from '../signal/log-record.js';
import { itemCount, sentRequestOf } from '../signal/sent-request.js';
import type { TraceRecord } from '../signal/trace.js';

/** Of more items of a batch no id is kept until it is answered. */
const MOST_IDS = 1000;

/**
 * Notes what a pipeline does not take of what a receiver gives it: single items, and whole batches.
 *
 * @param inner throws a ConsumeError where it takes nothing
 */
export function noteRejections<B extends Batch<unknown>>(
  inner: Consumer<B>,
  rejections: Rejections,
  from: { readonly receiver: string; readonly signal: Signal },
): Consumer<B> {
  return {
    passesSent: inner.passesSent,
    async consume(batch, context) {
      const { tenant } = batch;
      const count = itemCount(batch);
      // Read before the call: the batch belongs to the consumer afterwards.
      const ids = idsOf(batch, from.signal);
      try {
        const receipt = await inner.consume(batch, context);
        if (receipt.refused.length > 0) {
          const items = receipt.refused.map(({ index, id, reason }) => ({
            trace_id: ids[index] ?? (from.signal === 'traces' ? (id ?? null) : null),
            error: reason,
          }));
          rejections.note(tenant, { ...from, code: 'validation_failed', items });
        }
        return receipt;
      } catch (error) {
        const code = error instanceof ConsumeError ? error.code : 'internal_error';
        const told = failureOf(error).problem.message;
        const items = ids.length === 0 ? [null] : ids;
        rejections.note(tenant, {
          ...from,
          code,
          items: items.map((trace_id) => ({ trace_id, error: told })),
          count,
        });
        throw error;
      }
    },
  };
}

function idsOf(batch: Batch<unknown>, signal: Signal): readonly (string | null)[] {
  // What nobody has read is not read for this.
  if (sentRequestOf(batch) !== undefined) return [];
  if (signal === 'traces')
    return (batch.items as readonly TraceRecord[]).slice(0, MOST_IDS).map(({ trace }) => trace.trace_id);
  if (signal === 'logs')
    return (batch.items as readonly LogRecord[]).slice(0, MOST_IDS).map(({ trace_id }) => trace_id);
  return [];
}
