import type { Factory, Plugin } from '../component/factory.js';
import { consumeChecks } from './consume-checks.js';
import { lifeChecks } from './life-checks.js';
import { receiverChecks } from './receiver-checks.js';
import type { ConformanceCheck, Subject } from './subject.js';

/**
 * The contract of a component as a list of checks, for any test runner.
 *
 * @example for (const { name, run } of conformance(factoryOf(plugin, 'processor', 'tag'))) test(name, run);
 */
export function conformance(factory: Factory, subject: Subject = {}): readonly ConformanceCheck[] {
  return [
    ...lifeChecks(factory, subject),
    ...(factory.kind === 'processor' || factory.kind === 'exporter' ? consumeChecks(factory, subject) : []),
    ...(factory.kind === 'receiver' ? receiverChecks(factory, subject) : []),
  ];
}

/** A plugin's factory by kind and type. @throws Error if there is none */
export function factoryOf<K extends Factory['kind']>(
  plugin: Plugin,
  kind: K,
  type: string,
): Extract<Factory, { readonly kind: K }> {
  const found = plugin.factories.find((factory) => factory.kind === kind && factory.type === type);
  if (found === undefined) throw new Error(`plugin "${plugin.name}" has no ${kind} "${type}"`);
  return found as Extract<Factory, { readonly kind: K }>;
}
