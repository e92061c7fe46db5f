import type { Counter, Meter } from '../../component/telemetry.js';

/** Counts replacements by pattern name. */
export class Tally {
  readonly #counter: Counter;
  readonly #processor: string;
  readonly #counts = new Map<string, number>();

  /** @param names all possible names */
  constructor({ id, meter }: { readonly id: string; readonly meter: Meter }, names: readonly string[]) {
    this.#processor = id;
    this.#counter = meter.counter('redact_replacements_total', {
      description: 'Text parts and values replaced by a redact processor.',
      labelNames: ['processor', 'pattern'],
    });
    for (const pattern of names) this.#counter.add(0, { processor: id, pattern });
  }

  add(pattern: string): void {
    this.#counts.set(pattern, (this.#counts.get(pattern) ?? 0) + 1);
  }

  /** Adds the pending counts to the metric and resets them. */
  report(): void {
    for (const [pattern, count] of this.#counts)
      this.#counter.add(count, { processor: this.#processor, pattern });
    this.#counts.clear();
  }
}
