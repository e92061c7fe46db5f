import { Type } from 'typebox';
import type { ExporterFactory } from '../../../src/component/factory.js';
import type { EventsBatch } from '../../../src/signal/batch.js';
import type { EventRecord } from '../../../src/signal/event.js';

/** An exporter `keep` that keeps the events it takes, takes none while it fails, and can be waited for. */
export class EventsExporter {
  readonly batches: EventsBatch[] = [];
  /** Batches that it did not take. */
  failures = 0;
  /** What it throws instead of taking anything. */
  fault: Error | null = null;
  #waiting: { readonly isOver: () => boolean; readonly resolve: () => void }[] = [];

  get events(): readonly EventRecord[] {
    return this.batches.flatMap(({ items }) => items);
  }

  /** What the envelopes hold of these types. */
  data(...types: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
    return this.events
      .filter(({ type }) => types.includes(type))
      .map(({ body }) => (JSON.parse(body) as { readonly data: Readonly<Record<string, unknown>> }).data);
  }

  /** Resolves when it has so many events. */
  async taken(count: number): Promise<void> {
    await this.#until(() => this.events.length >= count);
  }

  /** Resolves when it has not taken a batch so often. */
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
