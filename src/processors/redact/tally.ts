import type { Counter, Meter } from '../../component/telemetry.js';

/** Counts what was taken out, by the name of what found it. */
export class Tally {
  readonly #counter: Counter;
  readonly #processor: string;
  readonly #counts = new Map<string, number>();

  /** @param names all that there can be */
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

  /** How much was counted so far: it has grown where something was replaced since. */
  tell(): void {
    for (const [pattern, count] of this.#counts)
      this.#counter.add(count, { processor: this.#processor, pattern });
    this.#counts.clear();
  }
}
