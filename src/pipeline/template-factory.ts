import type { Component } from '../component/component.js';
import type { Consumer } from '../component/consumer.js';
import { signalsOf, type Exporter, type Factory, type Outputs, type Settings } from '../component/factory.js';
import type { FactoryOf } from '../config/config.js';
import { formatPath, formatPosition } from '../config/config-error.js';
import { locate } from '../config/config-node.js';
import { checkSchema, segmentsOf } from '../config/schema-check.js';
import { SIGNALS, type Batches, type Signal } from '../signal/batch.js';
import { copyBatch } from './copy-batch.js';
import {
  ChainLife,
  chainProcessors,
  settingsOf,
  type ConfiguredPart,
  type ProcessorPart,
} from './template-chain.js';
import type { Template, TemplatePart } from './template-file.js';
import { factoryOfChains } from './template-pipelines.js';
import { withParameters } from './template-parameters.js';

type Config = Record<string, unknown>;
type AnySettings = Settings<Config>;

/** Creates a factory from a template. */
export function templateFactory(template: Template): Factory {
  const { pipelines } = template;
  if (pipelines.size === 0) return chainFactory(template);
  const chains = [...pipelines].map(
    ([signal, parts]) => [signal, chainFactory({ ...template, parts })] as const,
  );
  return factoryOfChains(chains);
}

/** One chain for all signals that its parts support. */
function chainFactory(template: Template): Factory {
  const { kind, type, description, stability, configSchema, parts } = template;
  const base = {
    type,
    description,
    stability,
    configSchema,
    check: (config: Config) => parts.flatMap((part) => problemsOf(part, config)),
    resources: (config: Config) =>
      configure(parts, config).flatMap((part) => part.factory.resources?.(part.config) ?? []),
    secrets: (config: Config) => parts.flatMap((part) => checkedConfig(part, config).secrets),
  };
  const signals = SIGNALS.filter((signal) =>
    parts.every(({ factory }) => signalsOf(factory).includes(signal)),
  );
  const mutatesBatch = parts.some(({ factory }) => factory.kind === 'processor' && factory.mutatesBatch);
  switch (kind) {
    case 'processor':
      return {
        ...base,
        kind,
        mutatesBatch,
        create: Object.fromEntries(
          signals.map((signal) => [
            signal,
            (settings: AnySettings & { readonly next: Consumer<Batches[Signal]> }) =>
              createProcessor(configure(parts, settings.config), signal, settings),
          ]),
        ),
      };
    case 'receiver':
      return {
        ...base,
        kind,
        signals,
        create: (settings) => createReceiver(configure(parts, settings.config), settings),
      };
    case 'exporter': {
      const last = parts.at(-1)?.factory;
      return {
        ...base,
        kind,
        signals,
        delivery: last?.kind === 'exporter' ? last.delivery : 'direct',
        deliveryConfig: (config) => {
          const [part] = ofKind(configure(parts, config), 'exporter');
          return part ? (part.factory.deliveryConfig?.(part.config) ?? part.config) : config;
        },
        create: (settings) =>
          createExporter(configure(parts, settings.config), signals, mutatesBatch, settings),
      };
    }
    case 'extension':
      return {
        ...base,
        kind,
        create: (settings) => {
          const [part] = ofKind(configure(parts, settings.config), 'extension');
          if (!part) throw new Error('the template has no extension');
          return part.factory.create(settingsOf(part, settings));
        },
      };
  }
}

function createProcessor(
  parts: readonly ConfiguredPart<Factory>[],
  signal: Signal,
  settings: AnySettings & { readonly next: Consumer<Batches[Signal]> },
): Component & Consumer<Batches[Signal]> {
  const { entry, components } = chainProcessors(ofKind(parts, 'processor'), signal, settings.next, settings);
  const life = new ChainLife(components);
  return {
    start: (host) => life.start(host),
    shutdown: (deadline) => life.shutdown(deadline),
    consume: (batch, context) => entry.consume(batch, context),
  };
}

function createReceiver(
  parts: readonly ConfiguredPart<Factory>[],
  settings: AnySettings & { readonly outputs: Outputs },
): Component {
  const [receiver] = ofKind(parts, 'receiver');
  if (!receiver) throw new Error('the template has no receiver');
  const { outputs, components } = chainOutputs(ofKind(parts, 'processor'), settings.outputs, settings);
  const first = receiver.factory.create({ ...settingsOf(receiver, settings), outputs });
  return new ChainLife([first, ...components]);
}

function createExporter(
  parts: readonly ConfiguredPart<Factory>[],
  signals: readonly Signal[],
  mutatesBatch: boolean,
  settings: AnySettings,
): Exporter {
  const [exporter] = ofKind(parts, 'exporter');
  if (!exporter) throw new Error('the template has no exporter');
  const last = exporter.factory.create(settingsOf(exporter, settings));
  const inputs = Object.fromEntries(
    signals.flatMap((signal) => (last.inputs[signal] ? [[signal, last.inputs[signal]] as const] : [])),
  ) as Outputs;
  const { outputs, components } = chainOutputs(ofKind(parts, 'processor'), inputs, settings);
  const life = new ChainLife([...components, last]);
  return {
    // Exporters may receive batches that are shared or sent again.
    inputs: mutatesBatch ? copying(outputs) : outputs,
    start: (host) => life.start(host),
    reload: async (now) => (await last.reload?.(now)) ?? false,
    shutdown: (deadline) => life.shutdown(deadline),
  };
}

/** Creates processors before each of several consumers. */
function chainOutputs(
  parts: readonly ProcessorPart[],
  ends: Outputs,
  settings: AnySettings,
): { readonly outputs: Outputs; readonly components: readonly Component[] } {
  const all: Component[] = [];
  const outputs = SIGNALS.flatMap((signal) => {
    const end: Consumer<Batches[Signal]> | undefined = ends[signal];
    if (!end) return [];
    const { entry, components } = chainProcessors(parts, signal, end, settings);
    all.push(...components);
    return [[signal, entry] as const];
  });
  return { outputs: Object.fromEntries(outputs), components: all };
}

function copying(inputs: Outputs): Outputs {
  return Object.fromEntries(
    Object.entries(inputs).map(([signal, input]: [string, Consumer<Batches[Signal]>]) => [
      signal,
      { consume: (batch: Batches[Signal], context: never) => input.consume(copyBatch(batch), context) },
    ]),
  );
}

function configure(parts: readonly TemplatePart[], config: Config): readonly ConfiguredPart<Factory>[] {
  return parts.map((part) => ({
    factory: part.factory,
    config: checkedConfig(part, config).value as Config,
  }));
}

function checkedConfig({ factory, node }: TemplatePart, config: Config) {
  return checkSchema(factory.configSchema, withParameters(node, config), []);
}

/** The problems of one component with the parameters of an instance, each with its place in the template. */
function problemsOf(
  part: TemplatePart,
  config: Config,
): readonly { readonly path: string; readonly message: string }[] {
  const { factory, node } = part;
  const written = withParameters(node, config);
  const { value, problems } = checkSchema(factory.configSchema, written, []);
  const rules =
    problems.length > 0
      ? problems.map(({ path, message }) => ({ path, message }))
      : (factory.check?.(value as Config) ?? []).map(({ path, message }) => ({
          path: segmentsOf(path),
          message,
        }));
  return rules.map(({ path, message }) => {
    // A missing value has no place: use that of the enclosing value.
    const position =
      path.length === 0 ? part.position : locate({ ...written, position: part.position }, path);
    return {
      path: '',
      message: `in its ${factory.kind} "${factory.type}" (${formatPosition(position)}): ${formatPath(path)}: ${message}`,
    };
  });
}

function ofKind<K extends Factory['kind']>(
  parts: readonly ConfiguredPart<Factory>[],
  kind: K,
): readonly ConfiguredPart<FactoryOf<K>>[] {
  return parts.filter((part): part is ConfiguredPart<FactoryOf<K>> => part.factory.kind === kind);
}
