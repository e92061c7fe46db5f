import type { ConsumeContext, QuotaUsage } from '../../component/consumer.js';
import type { Batch, Batches, Signal } from '../../signal/batch.js';
import { monthOf, startOfMonth } from '../../storage/contracts/telemetry-writer.js';
import { quotaExceeded } from '../../storage/contracts/errors.js';
import type { JsonObject } from '../../signal/attributes.js';
import { formatTime, type Micros } from '../../signal/time.js';

/** State of a user's quota before a test. */
export interface QuotaBefore {
  readonly used: number;
  /** The user's own limit; undefined: the limit of the processors. */
  readonly monthly_event_limit?: number | undefined;
}

const IDENTITY = '00000000-0000-4000-8004-000000000000';

/**
 * Replaces the stores of a daemon. It counts new items by month and refuses items over a limit, but keeps only the ids needed for
 * that. It has one user, who sends everything.
 */
export class MemoryStore {
  /** The part of a storage extension that `quota` uses. */
  readonly extension: object = {
    writer: null,
    usage: null,
    accounts: null,
    identity: () => Promise.resolve(IDENTITY),
    watch: { watch: () => () => undefined },
    settings: {
      publish: () => Promise.resolve(),
      withdraw: () => Promise.resolve(),
      all: () => Promise.resolve([]),
    },
  };
  readonly #ownLimit: number | undefined;
  /** By {@link monthOf}. */
  readonly #used: Map<number, number>;
  readonly #stored = new Set<string>();
  #usage: QuotaUsage | undefined;

  /** @param now the month in which `before` was used */
  constructor({ used, monthly_event_limit }: QuotaBefore, now: Micros) {
    this.#ownLimit = monthly_event_limit;
    this.#used = new Map([[monthOf(now), used]]);
  }

  /** The quota at the last count, as the API shows it; empty without a limit. */
  get usage(): JsonObject {
    return this.#usage ? { ...this.#usage, resets_at: formatTime(this.#usage.resets_at) } : {};
  }

  /**
   * Counts a batch.
   *
   * @throws ConsumeError `quota_exceeded`
   */
  take<S extends Signal>(
    signal: S,
    batch: Batches[S],
    { receivedAt }: ConsumeContext,
  ): QuotaUsage | undefined {
    const { ids, others } = newIn(signal, batch, this.#stored);
    const counted = this.#count(batch, ids.length + others, receivedAt);
    for (const id of ids) this.#stored.add(id);
    return counted;
  }

  #count({ quota }: Batch<unknown>, items: number, receivedAt: Micros): QuotaUsage | undefined {
    if (quota === undefined) return undefined;
    const month = monthOf(receivedAt);
    const used = this.#used.get(month) ?? 0;
    const limit = this.#ownLimit ?? quota.monthly_items;
    const usage = { limit, used, resets_at: startOfMonth(month + 1) };
    this.#usage = limit > 0 ? usage : undefined;
    if (limit > 0 && items > 0 && used + items > limit) throw quotaExceeded(usage, items, receivedAt);
    this.#used.set(month, used + items);
    return (this.#usage &&= { ...usage, used: used + items });
  }
}

/**
 * The new items of a batch: for traces the ids of new spans, and of new traces without spans; for other signals the number of
 * items.
 */
function newIn<S extends Signal>(
  signal: S,
  { items }: Batches[S],
  stored: ReadonlySet<string>,
): { readonly ids: readonly string[]; readonly others: number } {
  if (signal !== 'traces') return { ids: [], others: items.length };
  const ids = (items as Batches['traces']['items']).flatMap(({ trace, spans }) =>
    spans.length === 0 ? [trace.trace_id] : spans.map(({ span_id }) => `${trace.trace_id} ${span_id}`),
  );
  return { ids: [...new Set(ids)].filter((id) => !stored.has(id)), others: 0 };
}
