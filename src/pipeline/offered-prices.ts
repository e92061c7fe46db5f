import type { PlacedPrices, PriceSource, Prices } from '../component/prices.js';
import { extensionReferences } from './extension-references.js';
import { targetsOf, type PlannedPipeline } from './plan.js';

/** A pipeline, and the extensions that its exporters and those of the pipelines it feeds use. */
interface Way {
  readonly name: string;
  readonly extensions: ReadonlySet<string>;
}

/** Price sources offered by the processors of pipelines. */
export class OfferedPrices {
  #ways: readonly Way[];
  /** By pipeline, in the order of the offers. */
  #offers = new Map<string, PriceSource[]>();
  /** What took over these, which has also the offers of components that stayed. */
  #adopter: OfferedPrices | undefined;

  constructor(pipelines: readonly PlannedPipeline[]) {
    const extensionsOf = ({ exporters, signal }: PlannedPipeline): readonly string[] =>
      exporters.flatMap((exporter) => [
        ...extensionReferences(exporter.config, exporter.factory.configSchema).map(({ id }) => id),
        ...targetsOf(exporter, signal).flatMap(({ name }) =>
          pipelines.filter((pipeline) => pipeline.name === name).flatMap(extensionsOf),
        ),
      ]);
    this.#ways = pipelines.map((pipeline) => ({
      name: pipeline.name,
      extensions: new Set(extensionsOf(pipeline)),
    }));
  }

  /**
   * After a reload: takes the pipelines and offers of a later build, and keeps its own offers of components that stay.
   *
   * @param isKept whether a processor of a pipeline stays
   */
  adopt(next: OfferedPrices, isKept: (processor: string, pipeline: string) => boolean): void {
    const offers = new Map<string, PriceSource[]>();
    for (const { name } of next.#ways) {
      const kept = (this.#offers.get(name) ?? []).filter(({ processor }) => isKept(processor, name));
      offers.set(name, [...kept, ...(next.#offers.get(name) ?? [])]);
    }
    this.#ways = next.#ways;
    this.#offers = offers;
    next.#adopter = this;
  }

  /** @param pipeline of the component; undefined for a component in none, whose offers are ignored */
  seenFrom(pipeline: string | undefined): Prices {
    return {
      offer: (source) => {
        if (pipeline === undefined) return;
        const known = this.#offers.get(pipeline) ?? [];
        this.#offers.set(pipeline, [
          ...known.filter(({ processor }) => processor !== source.processor),
          source,
        ]);
      },
      leadingTo: (store) => {
        const current = this.#adopter ?? this;
        const there = current.#placed(({ extensions }) => extensions.has(store));
        return there.length > 0 ? there : current.#placed(() => true);
      },
    };
  }

  /** A processor that several pipelines list offers the same prices in each of them. */
  #placed(isWanted: (way: Way) => boolean): readonly PlacedPrices[] {
    const found = new Map<string, PriceSource & { readonly pipelines: string[] }>();
    for (const way of this.#ways) {
      if (!isWanted(way)) continue;
      for (const source of this.#offers.get(way.name) ?? []) {
        const placed = found.get(source.processor);
        if (placed) placed.pipelines.push(way.name);
        else found.set(source.processor, { ...source, pipelines: [way.name] });
      }
    }
    return [...found.values()];
  }
}
