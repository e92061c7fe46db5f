import type { Rejections } from '../../component/rejections.js';
import type { Meter } from '../../component/telemetry.js';
import type { Edges } from '../edges.js';
import type { Counts, Series } from './recorder.js';

const NOTHING = { items: 0, contents: 0 };
/** Counters of an edge, see `EdgeMetrics`. */
const OUTCOME = /_(offered|accepted|refused|failed)_(?=\w+_total$)/;

/** Items of an edge that were offered and have no outcome yet. */
interface Open {
  items: number;
  readonly fail: (items: number) => void;
}

/** Adds what one thread has counted to the metrics, edges and rejections of the daemon. */
export class CountsReader {
  readonly #to: { readonly meter: Meter; readonly edges: Edges; readonly rejections: Rejections };
  readonly #series: ((value: number) => void)[] = [];
  readonly #open = new Map<string, Open>();
  #hasEnded = false;

  constructor(to: { readonly meter: Meter; readonly edges: Edges; readonly rejections: Rejections }) {
    this.#to = to;
  }

  add({ series, values, rejections }: Counts): void {
    // Counted by `end`.
    if (this.#hasEnded) return;
    this.#series.push(...series.map((each) => this.#adder(each)));
    for (let i = 0; i < values.length; i += 2) this.#series[values[i] ?? -1]?.(values[i + 1] ?? 0);
    for (const { userId, items } of rejections) this.#to.rejections.note(userId, items);
  }

  /** Counts as failed what the thread, which has ended, leaves without an outcome. */
  end(): void {
    this.#hasEnded = true;
    for (const { items, fail } of this.#open.values()) if (items > 0) fail(items);
  }

  /** @returns the items without an outcome that an edge and a kind of items have */
  #openOf(key: string, fail: Open['fail']): Open {
    const open = this.#open.get(key) ?? { items: 0, fail };
    this.#open.set(key, open);
    return open;
  }

  #adder(series: Series): (value: number) => void {
    const { meter, edges } = this.#to;
    if (series.kind === 'counter') {
      const { name, options, labels } = series;
      const counter = meter.counter(name, options);
      const [found, outcome] = OUTCOME.exec(name) ?? [];
      if (found === undefined)
        return (value) => {
          counter.add(value, labels);
        };
      const failed = name.replace(OUTCOME, '_failed_');
      const open = this.#openOf(JSON.stringify([failed, labels]), (items) => {
        meter.counter(failed, options).add(items, labels);
      });
      return (value) => {
        counter.add(value, labels);
        open.items += outcome === 'offered' ? value : -value;
      };
    }
    if (series.kind === 'histogram') {
      const histogram = meter.histogram(series.name, series.options);
      return (value) => {
        histogram.record(value, series.labels);
      };
    }
    const edge = edges.observerOf(series.place);
    const amountOf = (items: number) => ({ items, contents: 0 });
    const { event, place } = series;
    if (event === 'ended') return (ms) => edge?.end(ms);
    const open = this.#openOf(JSON.stringify(place), (items) => edge?.fail(amountOf(items)));
    return (items) => {
      open.items += event === 'offered' ? items : -items;
      if (event === 'offered') edge?.offer(amountOf(items));
      else if (event === 'accepted') edge?.take(amountOf(items), NOTHING);
      else if (event === 'refused') edge?.take(NOTHING, amountOf(items));
      else edge?.fail(amountOf(items));
    };
  }
}
