import type { Component } from '../../component/component.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import { TokenBuckets } from '../../component/token-buckets.js';
import type { Batch, Signal, TracesBatch } from '../../signal/batch.js';
import { MS_PER_SECOND } from '../../signal/time-units.js';
import type { RateLimitConfig } from './config.js';

/** The number of items in a batch. A trace without spans counts as one span. */
const ITEM_COUNTS: Readonly<{ [S in Signal]: (batch: Batch<unknown>) => number }> = {
  traces: (batch) =>
    (batch as TracesBatch).items.reduce((sum, { spans }) => sum + Math.max(1, spans.length), 0),
  metrics: ({ items }) => items.length,
  logs: ({ items }) => items.length,
  events: ({ items }) => items.length,
};

/** Default burst. */
const BURST_SECONDS = 2;
const EVERYBODY = '';

/** Processor `rate_limit` in a pipeline of one signal: see README.md. */
export function createRateLimit<B extends Batch<unknown>>(
  signal: Signal,
  { id, config, clock, meter }: Settings<RateLimitConfig>,
  next: Consumer<B>,
): Component & Consumer<B> {
  const perSecond = config.items_per_second;
  const burst = config.burst ?? Math.max(1, Math.ceil(BURST_SECONDS * perSecond));
  const buckets = new TokenBuckets({ perSecond, burst, maxOwners: config.max_owners }, clock);
  const labels = { processor: id, signal };
  const limited = meter.counter('rate_limit_refused_items_total', {
    description: 'Spans, metric points, log records and events in batches above the rate limit.',
    labelNames: ['processor', 'signal'],
  });
  limited.add(0, labels);
  return {
    async consume(batch, context) {
      const owner = ownerOf(batch, context, config.per);
      const count = ITEM_COUNTS[signal](batch);
      // A batch larger than the burst is accepted once the bucket is full; its cost is then paid off afterwards.
      const seconds = buckets.secondsUntil(owner, Math.min(count, burst));
      if (seconds > 0) {
        limited.add(count, labels);
        throw tooFast(seconds, config);
      }
      buckets.take(owner, count);
      return next.consume(batch, context).catch((error: unknown) => {
        // Nothing was accepted, and the sender retries.
        buckets.take(owner, -count);
        throw error;
      });
    },
  };
}

function ownerOf({ tenant }: Batch<unknown>, { keyId }: ConsumeContext, per: RateLimitConfig['per']): string {
  if (per === 'global') return EVERYBODY;
  return per === 'key' ? (keyId ?? tenant) : tenant;
}

function tooFast(seconds: number, { items_per_second, per }: RateLimitConfig): ConsumeError {
  const whose = per === 'global' ? 'all senders together' : `one ${per}`;
  const detail = `More than ${items_per_second} items per second from ${whose} are not accepted.`;
  return new ConsumeError(detail, {
    code: 'rate_limited',
    retryable: true,
    retryAfterMs: Math.ceil(seconds * MS_PER_SECOND),
    detail,
  });
}
