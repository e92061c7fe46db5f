import { Command } from 'commander';
import { signalsOf, type Factory } from '../component/factory.js';
import type { Placement } from '../component/intake.js';
import { loadTree } from '../config/load.js';
import { loadRegistry } from '../pipeline/load-registry.js';
import { configSources, withConfigOption, type ConfigOptions } from './config-files.js';
import type { CliIo } from './io.js';
import { showList } from './table.js';
import { ConfigError } from '../config/config-error.js';

interface Row {
  readonly kind: string;
  readonly type: string;
  readonly signals: readonly string[];
  /** `any`: also in intake threads, as far as its configuration allows. Null for extensions. */
  readonly placement: Placement | null;
  readonly stability: string;
  readonly description: string;
}

export function componentsCommand(io: CliIo, builtin: readonly Factory[]): Command {
  const command = new Command('components').description(
    'List the types of components that a configuration can use, including those of its plugins.',
  );
  return withConfigOption(command)
    .option('--json', 'print JSON')
    .action(async (options: ConfigOptions & { readonly json?: boolean }) => {
      const { sources, environment } = configSources(options, io);
      const { registry, problems } = await loadRegistry(loadTree(sources, environment).root, builtin);
      if (problems.length > 0) throw new ConfigError(problems);
      showList(io, registry.all().map(describe), {
        ...options,
        columns: [
          { title: 'kind', show: ({ kind }) => kind },
          { title: 'type', show: ({ type }) => type },
          { title: 'signals', show: ({ signals }) => signals.join(',') || null },
          { title: 'placement', show: ({ placement }) => placement },
          { title: 'stability', show: ({ stability }) => stability },
          { title: 'description', show: ({ description }) => description },
        ],
        none: 'There are no components.',
      });
    });
}

function describe(factory: Factory): Row {
  const { kind, type, stability, description } = factory;
  const placement = factory.kind === 'extension' ? null : factory.placement === undefined ? 'main' : 'any';
  return { kind, type, signals: signalsOf(factory), placement, stability, description };
}
