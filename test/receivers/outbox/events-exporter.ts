import { Type } from 'typebox';
import type { ExporterFactory } from '../../../src/component/factory.js';
import type { EventsBatch } from '../../../src/signal/batch.js';
import type { EventRecord } from '../../../src/signal/event.js';

/** An exporter `keep` that stores events, can fail on demand, and can be awaited. */
export class EventsExporter {
  readonly batches: EventsBatch[] = [];
  /** Rejected batches. */
  failures = 0;
  /** Thrown instead of accepting a batch. */
  fault: Error | null = null;
  #waiting: { readonly isOver: () => boolean; readonly resolve: () => void }[] = [];

  get events(): readonly EventRecord[] {
    return this.batches.flatMap(({ items }) => items);
  }

  /** Envelope data of events of these types. */
  data(...types: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
    return this.events
      .filter(({ type }) => types.includes(type))
      .map(({ body }) => (JSON.parse(body) as { readonly data: Readonly<Record<string, unknown>> }).data);
  }

  /** Resolves at that many events. */
  async taken(count: number): Promise<void> {
    await this.#until(() => this.events.length >= count);
  }

  /** Resolves after that many rejected batches. */
  async failed(count: number): Promise<void> {
    await this.#until(() => this.failures >= count);
  }

  get factory(): ExporterFactory {
    const consume = async ({ tenant, items }: EventsBatch) => {
      if (this.fault) this.failures += 1;
      else this.batches.push({ tenant, items });
      for (const { isOver, resolve } of this.#waiting) if (isOver()) resolve();
      if (this.fault) throw this.fault;
      return { accepted: items.length, refused: [] };
    };
    return {
      kind: 'exporter',
      type: 'keep',
      description: 'Keeps the events it takes.',
      stability: 'development',
      signals: ['events'],
      delivery: 'direct',
      configSchema: Type.Object({}),
      create: () => ({ inputs: { events: { consume } } }),
    };
  }

  async #until(isOver: () => boolean): Promise<void> {
    if (isOver()) return;
    await new Promise<void>((resolve) => this.#waiting.push({ isOver, resolve }));
  }
}
