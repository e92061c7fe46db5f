import type { EdgeListener, EdgeSample, Passed, SampledListener } from '../../../component/edge-listener.js';
import type { Clock } from '../../../component/telemetry.js';
import { failureOf } from '../../../http/problem.js';
import { itemCount } from '../../../signal/amount.js';
import type { Signal } from '../../../signal/batch.js';
import { serializeJson } from '../../../signal/json.js';
import { itemsWithin, type AnyBatch } from '../../../signal/raw-batch.js';
import { formatTime } from '../../../signal/time.js';
import type { Inbox } from './inbox.js';
import { seenItem, type SeenItem } from './seen-item.js';
import { lostEvent, sseEvent } from './sse.js';

/** Maximum number of items between two reads of the stream, including items with a pending result; also the maximum for one batch. */
const MOST_ITEMS = 10;
const MOST_OF_BATCH = 3;
/** Maximum size of a raw request that is decoded for a tap, one between two reads of the stream: some milliseconds. */
const MOST_READ = 512 * 1024;
const DIGITS_OF_MS = 3;

/** Samples the items on an edge for one user or for all, limited to what the stream takes. The rest is counted. */
export class EdgeTap implements EdgeListener, Inbox {
  readonly #userId: string | null;
  readonly #wake: () => void;
  readonly #clock: Clock;
  #pending: object[] = [];
  /** Items of batches in progress. */
  #under = 0;
  #lost = 0;
  #mayRead = true;
  /** Intake threads whose samples were not read. */
  #senders: (() => void)[] = [];
  readonly sampled: SampledListener;

  /**
   * @param userId null for the items of all users
   * @param wake called when items are available
   */
  constructor(userId: string | null, wake: () => void, clock: Clock) {
    this.#userId = userId;
    this.#wake = wake;
    this.#clock = clock;
    this.sampled = { userId, add: (sample) => this.#add(sample) };
  }

  offer(batch: AnyBatch, signal: Signal): ((passed: Passed) => void) | undefined {
    if (this.#userId !== null && batch.tenant !== this.#userId) return undefined;
    const at = formatTime(this.#clock.now());
    const count = itemCount(batch);
    const seen = this.#see(batch, signal);
    const rest = count - seen.length;
    this.#under += seen.length;
    return (passed) => {
      this.#under -= seen.length;
      this.#lost += rest;
      const ms = Number(passed.ms.toPrecision(DIGITS_OF_MS));
      for (const [position, { item, isCut }] of seen.entries()) {
        this.#pending.push({
          at,
          signal,
          batch_items: count,
          duration_ms: ms,
          ...outcomeOf(passed, position),
          is_truncated: isCut,
          item,
        });
      }
      this.#wake();
    };
  }

  take(): readonly Uint8Array[] {
    const { items, lost } = this.takeSample();
    const events = items.map((shown) => sseEvent('tap', serializeJson(shown)));
    return lost > 0 ? [...events, lostEvent('tap', lost)] : events;
  }

  /** Removes and returns the items, and the number of those left out. */
  takeSample(): EdgeSample {
    const sample = { items: this.#pending, lost: this.#lost };
    this.#pending = [];
    this.#lost = 0;
    this.#mayRead = true;
    for (const send of this.#senders.splice(0)) send();
    return sample;
  }

  close(): void {
    this.takeSample();
  }

  /** See `SampledListener.add`. */
  async #add({ items, lost }: EdgeSample): Promise<void> {
    const room = Math.max(0, MOST_ITEMS - this.#pending.length);
    this.#pending.push(...items.slice(0, room));
    this.#lost += lost + Math.max(0, items.length - room);
    const read = new Promise<void>((resolve) => this.#senders.push(resolve));
    this.#wake();
    await read;
  }

  /** Copies the current values, because downstream components may change them. */
  #see(batch: AnyBatch, signal: Signal): readonly SeenItem[] {
    const room = Math.min(MOST_OF_BATCH, MOST_ITEMS - this.#pending.length - this.#under);
    if (room <= 0) return [];
    if (batch.kind === 'raw') {
      if (!this.#mayRead) return [];
      this.#mayRead = false;
    }
    return (itemsWithin(batch, MOST_READ) ?? []).slice(0, room).map((item) => seenItem(signal, item));
  }
}

/** @param position of the item in its batch */
function outcomeOf(
  { refused, error }: Passed,
  position: number,
): { readonly outcome: 'taken' | 'refused' | 'failed'; readonly reason: string | null } {
  if (error !== undefined) return { outcome: 'failed', reason: failureOf(error).problem.message };
  const reason = refused.get(position);
  return reason === undefined ? { outcome: 'taken', reason: null } : { outcome: 'refused', reason };
}
