import type { Static, TObject } from 'typebox';
import type { Component } from '../../src/component/component.js';
import type { Consumer, ConsumeContext, Receipt } from '../../src/component/consumer.js';
import type { ProcessorFactory } from '../../src/component/factory.js';
import { checkSchema } from '../../src/config/schema-check.js';
import { parseYaml } from '../../src/config/parse-yaml.js';
import { nodeAt } from '../../src/config/config-node.js';
import type { Batches, Signal } from '../../src/signal/batch.js';
import { componentSettings } from './component-settings.js';

/** A processor under test and its output. */
export interface ProcessorUnderTest<S extends Signal> {
  readonly settings: ReturnType<typeof componentSettings>;
  readonly processor: Component & Consumer<Batches[S]>;
  /** Every forwarded batch. */
  readonly passed: Batches[S][];
  readonly consume: (items: Batches[S]['items'], context?: Partial<ConsumeContext>) => Promise<Receipt>;
}

/** Creates a processor of one signal from a YAML section. @param answer of downstream; by default everything is accepted */
export function processorOf<S extends Signal, Schema extends TObject>(
  factory: ProcessorFactory<Schema>,
  signal: S,
  yaml: string,
  answer: (batch: Batches[S]) => Promise<Receipt> = async (batch) =>
    Promise.resolve({ accepted: batch.items.length, refused: [] }),
): ProcessorUnderTest<S> {
  const create = factory.create[signal];
  if (create === undefined) throw new Error(`${factory.type} is not for ${signal}`);
  const config = sectionOf(factory, yaml);
  const settings = componentSettings(factory.type);
  const passed: Batches[S][] = [];
  const processor = create({
    ...settings,
    config,
    pipeline: 'traces',
    next: {
      consume: async (batch: Batches[S]) => {
        passed.push(batch);
        return answer(batch);
      },
    },
  });
  const consume = async (items: Batches[S]['items'], context: Partial<ConsumeContext> = {}) =>
    processor.consume({ tenant: 'a-user', items } as unknown as Batches[S], {
      receivedAt: settings.clock.now(),
      ...context,
    });
  return { settings, processor, passed, consume };
}

/** A YAML section with defaults. @throws Error with its problems */
function sectionOf<Schema extends TObject>(factory: ProcessorFactory<Schema>, yaml: string): Static<Schema> {
  const text = yaml.trimStart().startsWith('{') ? yaml : `\n${yaml.replaceAll(/^/gm, '  ')}`;
  const { root, problems } = parseYaml(`section: ${text}`, 'test.yaml');
  if (root === undefined || nodeAt(root, ['section']) === undefined)
    throw new Error(problems.map(({ message }) => message).join('; '));
  const checked = checkSchema(factory.configSchema, root, ['section']);
  const config = checked.value as Static<Schema>;
  const broken = [
    ...checked.problems,
    ...(checked.problems.length === 0 ? (factory.check?.(config) ?? []) : []),
  ];
  if (broken.length > 0) throw new Error(broken.map(({ message }) => message).join('; '));
  return config;
}
