import { Command, Option } from 'commander';
import type { Factory } from '../component/factory.js';
import { prepare } from '../pipeline/prepare.js';
import { intakeThreads } from '../config/memory.js';
import { Placements } from '../pipeline/intake/placements.js';
import type { Plan, PlannedPipeline } from '../pipeline/plan.js';
import { configSources, withConfigOption, type ConfigOptions } from './config-files.js';
import type { CliIo } from './io.js';

interface Box {
  readonly key: string;
  readonly label: string;
}

interface Drawing {
  readonly receivers: readonly Box[];
  readonly exporters: readonly Box[];
  readonly pipelines: readonly { readonly name: string; readonly processors: readonly Box[] }[];
  readonly edges: readonly (readonly [from: string, to: string])[];
}

export function graphCommand(io: CliIo, builtin: readonly Factory[]): Command {
  const command = new Command('graph').description('Print the pipelines of a configuration as a graph.');
  return withConfigOption(command)
    .addOption(
      new Option('--format <format>', 'language to print it in')
        .choices(['mermaid', 'dot'])
        .default('mermaid'),
    )
    .action(async (options: ConfigOptions & { readonly format: 'mermaid' | 'dot' }) => {
      const { sources, environment } = configSources(options, io);
      const { plan, config } = await prepare(sources, environment, builtin);
      const placements = intakeThreads(config.service.intake.threads) > 0 ? new Placements(plan) : undefined;
      const drawing = draw(plan, placements);
      io.out(options.format === 'dot' ? toDot(drawing) : toMermaid(drawing));
    });
}

/** Draws each receiver, exporter and connector once, even if several pipelines share it; processors belong to one pipeline. */
function draw({ pipelines }: Plan, placements: Placements | undefined): Drawing {
  const receivers = new Map<string, Box>();
  const exporters = new Map<string, Box>();
  const edges: [string, string][] = [];
  const shared = (boxes: Map<string, Box>, prefix: string, label: string): Box => {
    const box = boxes.get(label) ?? { key: `${prefix}${boxes.size}`, label };
    boxes.set(label, box);
    return box;
  };
  const drawn = pipelines.map((pipeline, index) => {
    const processors = pipeline.processors.map(({ id }, at) => ({ key: `p${index}_${at}`, label: id }));
    const sources = [
      ...pipeline.receivers.map(({ id }) => shared(receivers, 'r', id)),
      ...pipeline.connectors.map(({ id }) => shared(exporters, 'e', id)),
    ];
    const targets = pipeline.exporters.map(({ id }) => shared(exporters, 'e', id));
    let from = sources;
    for (const processor of processors) {
      edges.push(...from.map((box): [string, string] => [box.key, processor.key]));
      from = [processor];
    }
    edges.push(...from.flatMap((box) => targets.map((target): [string, string] => [box.key, target.key])));
    return { name: titleOf(pipeline, placements), processors };
  });
  return {
    receivers: [...receivers.values()],
    exporters: [...exporters.values()],
    pipelines: drawn,
    edges: unique(edges),
  };
}

/** The name of a pipeline, and where it runs if not on the main thread. */
function titleOf(pipeline: PlannedPipeline, placements: Placements | undefined): string {
  const { name, receivers } = pipeline;
  const inThreads = receivers.filter((receiver) => placements?.of(pipeline, receiver) === 'any');
  if (inThreads.length === 0) return name;
  const some = inThreads.length < receivers.length ? ` for ${inThreads.map(({ id }) => id).join(', ')}` : '';
  return `${name} (intake threads${some})`;
}

function unique(edges: readonly [string, string][]): readonly (readonly [string, string])[] {
  return [...new Map(edges.map((edge) => [edge.join(' '), edge])).values()];
}

function toMermaid({ receivers, exporters, pipelines, edges }: Drawing): string {
  const text = (label: string) => `"${label.replaceAll('"', '#quot;')}"`;
  return [
    'flowchart LR',
    ...receivers.map(({ key, label }) => `  ${key}([${text(label)}])`),
    ...pipelines.flatMap(({ name, processors }, index) =>
      processors.length === 0
        ? []
        : [
            `  subgraph s${index}[${text(name)}]`,
            ...processors.map(({ key, label }) => `    ${key}[${text(label)}]`),
            '  end',
          ],
    ),
    ...exporters.map(({ key, label }) => `  ${key}[[${text(label)}]]`),
    ...edges.map(([from, to]) => `  ${from} --> ${to}`),
  ].join('\n');
}

function toDot({ receivers, exporters, pipelines, edges }: Drawing): string {
  const text = (label: string) => JSON.stringify(label);
  const box = ({ key, label }: Box, shape: string) => `${key} [label=${text(label)}, shape=${shape}];`;
  return [
    'digraph jackdaw {',
    '  rankdir=LR;',
    ...receivers.map((receiver) => `  ${box(receiver, 'ellipse')}`),
    ...pipelines.flatMap(({ name, processors }, index) =>
      processors.length === 0
        ? []
        : [
            `  subgraph cluster_${index} {`,
            `    label=${text(name)};`,
            ...processors.map((processor) => `    ${box(processor, 'box')}`),
            '  }',
          ],
    ),
    ...exporters.map((exporter) => `  ${box(exporter, 'box3d')}`),
    ...edges.map(([from, to]) => `  ${from} -> ${to};`),
    '}',
  ].join('\n');
}
