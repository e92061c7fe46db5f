import type { ConfiguredComponent, FactoryOf } from '../config/config.js';
import { extensionReferences } from './extension-references.js';

type Extension = ConfiguredComponent<FactoryOf<'extension'>>;

/**
 * Puts each extension after those that it names, otherwise in the order given.
 *
 * @returns the order, or, where there is none, the ids of a cycle, first and last the same
 */
export function orderExtensions(extensions: readonly Extension[]): {
  readonly extensions: readonly Extension[];
  readonly cycle: readonly string[];
} {
  const byId = new Map(extensions.map((extension) => [extension.id, extension]));
  const done = new Set<Extension>();
  const visit = (extension: Extension, above: readonly Extension[]): readonly string[] => {
    if (done.has(extension)) return [];
    const start = above.indexOf(extension);
    if (start >= 0) return [...above.slice(start), extension].map(({ id }) => id);
    const references = extension.isValid
      ? extensionReferences(extension.config, extension.factory.configSchema)
      : [];
    for (const { id } of references) {
      const needed = byId.get(id);
      const cycle = needed ? visit(needed, [...above, extension]) : [];
      if (cycle.length > 0) return cycle;
    }
    done.add(extension);
    return [];
  };
  for (const extension of extensions) {
    const cycle = visit(extension, []);
    if (cycle.length > 0) return { extensions, cycle };
  }
  return { extensions: [...done], cycle: [] };
}
