import { shorten } from '../../../component/item-problems.js';
import type { Batches, Signal } from '../../../signal/batch.js';
import { moneyToNumber } from '../../../signal/money.js';
import { formatTime } from '../../../signal/time.js';

/** Limits per item: spans, values in total, characters of texts in total, and characters of one text. */
const MOST_SPANS = 5;
const MOST_VALUES = 400;
const MOST_TEXT = 6000;
const MOST_OF_TEXT = 300;
const MOST_DEPTH = 8;

const TIMES: ReadonlySet<string> = new Set([
  'started_at',
  'ended_at',
  'timestamp',
  'observed_at',
  'start_time',
]);
const MONEY: ReadonlySet<string> = new Set(['cost_usd', 'total_cost_usd']);
/** Jackdaw's internal fields. */
const INNER: ReadonlySet<string> = new Set([
  'agent_hint',
  'map_hint',
  'run_kind',
  'follows_spans',
  'idle_timeout_ms',
  'orphan_wait_ms',
  'parent_is_remote',
  'origin',
  // Duplicates the attributes.
  'labels',
  'stream',
]);

/** An item without empty fields, and whether parts of it were cut. */
export interface SeenItem {
  readonly item: unknown;
  readonly isCut: boolean;
}

type Item<S extends Signal> = Batches[S]['items'][number];

const FORMS: { readonly [S in Signal]: (item: Item<S>, sketch: Sketch) => object } = {
  traces: ({ trace, spans }, sketch) => ({
    trace: sketch.record(trace),
    span_count: spans.length,
    spans: sketch.list(spans, MOST_SPANS, (span) => sketch.record(span)),
  }),
  metrics: (point, sketch) => {
    const { name, type, unit, temporality, origin } = point.stream;
    const known = { name, type, unit, temporality, service_name: origin.serviceName };
    return { ...sketch.record(known), ...sketch.record(point) };
  },
  logs: (log, sketch) => ({
    ...sketch.record({ service_name: log.origin.serviceName }),
    ...sketch.record(log),
  }),
  events: (event, sketch) => sketch.record(event),
};

/** A truncated copy of an item; the cost does not grow with the item. @param item of a batch of the signal */
export function seenItem(signal: Signal, item: unknown): SeenItem {
  const sketch = new Sketch();
  const form = (FORMS[signal] as (item: unknown, sketch: Sketch) => object)(item, sketch);
  return { item: form, isCut: sketch.isCut };
}

/** Copies values up to a size limit. */
class Sketch {
  isCut = false;
  #valuesLeft = MOST_VALUES;
  #textLeft = MOST_TEXT;

  /** Copies a record of Jackdaw, with times and money in API form. */
  record(record: object): object {
    const shown: [string, unknown][] = [];
    for (const [name, value] of Object.entries(record) as [string, unknown][]) {
      if (value === null || INNER.has(name)) continue;
      if (typeof value === 'number' && TIMES.has(name)) shown.push([name, formatTime(value)]);
      else if (typeof value === 'number' && MONEY.has(name)) shown.push([name, moneyToNumber(value)]);
      else shown.push([name, this.#value(value, 0)]);
    }
    return Object.fromEntries(shown);
  }

  list<Item>(items: readonly Item[], most: number, print: (item: Item) => unknown): unknown[] {
    if (items.length > most) this.isCut = true;
    return items.slice(0, most).map(print);
  }

  #value(value: unknown, depth: number): unknown {
    this.#valuesLeft -= 1;
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MOST_DEPTH) return this.#cut();
    if (Array.isArray(value)) {
      const shown: unknown[] = [];
      for (const item of value as readonly unknown[]) {
        if (this.#valuesLeft <= 0) return [...shown, this.#cut()];
        shown.push(this.#value(item, depth + 1));
      }
      return shown;
    }
    const shown: [string, unknown][] = [];
    for (const key in value) {
      if (this.#valuesLeft <= 0) {
        this.isCut = true;
        break;
      }
      shown.push([this.#text(key), this.#value((value as Record<string, unknown>)[key], depth + 1)]);
    }
    return Object.fromEntries(shown);
  }

  #text(text: string): string {
    const room = Math.max(0, Math.min(MOST_OF_TEXT, this.#textLeft));
    const shown = shorten(text, room);
    if (shown !== text) this.isCut = true;
    this.#textLeft -= Math.min(text.length, room);
    return shown;
  }

  #cut(): string {
    this.isCut = true;
    return '…';
  }
}
