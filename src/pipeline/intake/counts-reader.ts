import type { Rejections } from '../../component/rejections.js';
import type { Meter } from '../../component/telemetry.js';
import type { Edges } from '../edges.js';
import type { Counts, Series } from './recorder.js';

const NOTHING = { items: 0, contents: 0 };

/** Adds what one thread has counted to the metrics, edges and rejections of the daemon. */
export class CountsReader {
  readonly #to: { readonly meter: Meter; readonly edges: Edges; readonly rejections: Rejections };
  readonly #series: ((value: number) => void)[] = [];

  constructor(to: { readonly meter: Meter; readonly edges: Edges; readonly rejections: Rejections }) {
    this.#to = to;
  }

  add({ series, values, rejections }: Counts): void {
    this.#series.push(...series.map((each) => this.#adder(each)));
    for (let i = 0; i < values.length; i += 2) this.#series[values[i] ?? -1]?.(values[i + 1] ?? 0);
    for (const { userId, items } of rejections) this.#to.rejections.note(userId, items);
  }

  #adder(series: Series): (value: number) => void {
    const { meter, edges } = this.#to;
    if (series.kind === 'counter') {
      const counter = meter.counter(series.name, series.options);
      return (value) => {
        counter.add(value, series.labels);
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
    switch (series.event) {
      case 'offered':
        return (items) => edge?.offer(amountOf(items));
      case 'accepted':
        return (items) => edge?.take(amountOf(items), NOTHING);
      case 'refused':
        return (items) => edge?.take(NOTHING, amountOf(items));
      case 'failed':
        return (items) => edge?.fail(amountOf(items));
      case 'ended':
        return (ms) => edge?.end(ms);
    }
  }
}
