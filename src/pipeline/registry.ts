import type { Factory } from '../component/factory.js';
import type { Kind } from '../component/component-id.js';
import type { Factories, FactoryOf } from '../config/config.js';

/** All factories by kind and type, rebuilt for each configuration. */
export class Registry implements Factories {
  readonly #factories = new Map<string, Factory>();

  /** @throws Error if two factories have the same kind and type */
  constructor(factories: readonly Factory[]) {
    for (const factory of factories) {
      const key = keyOf(factory.kind, factory.type);
      if (this.#factories.has(key))
        throw new Error(`There are two ${factory.kind}s of type "${factory.type}": one must be renamed`);
      this.#factories.set(key, factory);
    }
  }

  find<K extends Kind>(kind: K, type: string): FactoryOf<K> | undefined {
    return this.#factories.get(keyOf(kind, type)) as FactoryOf<K> | undefined;
  }

  types(kind: Kind): readonly string[] {
    return this.all()
      .filter((factory) => factory.kind === kind)
      .map(({ type }) => type);
  }

  all(): readonly Factory[] {
    return [...this.#factories.values()];
  }
}

function keyOf(kind: Kind, type: string): string {
  return `${kind}/${type}`;
}
