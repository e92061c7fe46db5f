import { isDeepStrictEqual } from 'node:util';
import {
  signalsOf,
  type ExporterFactory,
  type Factory,
  type ProcessorFactory,
} from '../component/factory.js';
import { deliveryKeys } from '../delivery/queue/config.js';
import type { Signal } from '../signal/batch.js';
import { ChainLife } from './template-chain.js';

type Config = Record<string, unknown>;
type Chains = readonly (readonly [signal: Signal, chain: Factory])[];
type Rules = readonly { readonly path: string; readonly message: string }[];

/**
 * Combines chains for different signals into one factory.
 *
 * @param chains of a template of kind processor or exporter, at least one
 */
export function factoryOfChains(chains: Chains): Factory {
  const factories = chains.map(([, factory]) => factory);
  const [first] = factories;
  if (first?.kind === 'processor') return processorOf(chains, first);
  if (first?.kind === 'exporter') return exporterOf(chains, first);
  throw new Error('a template with pipelines is a processor or an exporter');
}

function processorOf(chains: Chains, first: ProcessorFactory): ProcessorFactory {
  const creates = chains.flatMap(([signal, chain]) =>
    chain.kind === 'processor' && chain.create[signal] ? [[signal, chain.create[signal]] as const] : [],
  );
  return {
    ...first,
    ...joined(chains),
    mutatesBatch: chains.some(([, chain]) => chain.kind === 'processor' && chain.mutatesBatch),
    create: Object.fromEntries(creates),
  };
}

function exporterOf(chains: Chains, first: ExporterFactory): ExporterFactory {
  const exporters = chains.flatMap(([signal, chain]) =>
    chain.kind === 'exporter' && signalsOf(chain).includes(signal) ? [{ signal, chain }] : [],
  );
  const { check, ...rest } = joined(chains);
  return {
    ...first,
    ...rest,
    signals: exporters.map(({ signal }) => signal),
    check: (config) => {
      const problems = check(config);
      return problems.length > 0 ? problems : deliveryProblems(exporters, config);
    },
    create: (settings) => {
      const created = exporters.map(({ signal, chain }) => ({ signal, exporter: chain.create(settings) }));
      const life = new ChainLife(created.map(({ exporter }) => exporter));
      return {
        inputs: Object.fromEntries(created.map(({ signal, exporter }) => [signal, exporter.inputs[signal]])),
        start: (host) => life.start(host),
        reload: async (now) => {
          const changed = [];
          for (const { exporter } of created) changed.push(await exporter.reload?.(now));
          return changed.includes(true);
        },
        shutdown: (deadline) => life.shutdown(deadline),
      };
    },
  };
}

/** The exporter has one delivery configuration for all signals. */
function deliveryProblems(
  exporters: readonly { readonly signal: Signal; readonly chain: ExporterFactory }[],
  config: Config,
): Rules {
  const keys = Object.keys(deliveryKeys());
  const deliveries = exporters.map(({ chain }): readonly unknown[] => {
    const read = chain.deliveryConfig?.(config) ?? config;
    return [chain.delivery, ...(chain.delivery === 'queued' ? keys.map((key) => read[key]) : [])];
  });
  if (deliveries.every((one) => isDeepStrictEqual(one, deliveries[0]))) return [];
  return [
    {
      path: '',
      message: `all exporters of its pipelines must have the same ${keys.join(', ')}, and formats with the same batches`,
    },
  ];
}

function joined(chains: Chains) {
  const factories = chains.map(([, chain]) => chain);
  return {
    check: (config: Config): Rules => factories.flatMap((factory) => factory.check?.(config) ?? []),
    resources: (config: Config) => factories.flatMap((factory) => factory.resources?.(config) ?? []),
    secrets: (config: Config) => factories.flatMap((factory) => factory.secrets?.(config) ?? []),
  };
}
