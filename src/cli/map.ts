import { Command } from 'commander';
import type { Static } from 'typebox';
import { rebuildServiceMap } from '../api/resources/service-map-rebuild.js';
import { hasDifferences } from '../storage/contracts/service-map.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { counted } from '../api/support/counted.js';
import { EXIT } from './exit-codes.js';
import type { CliIo } from './io.js';
import { printable, showJson } from './table.js';

interface Options extends ApiOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

type Rebuild = Static<(typeof rebuildServiceMap.responses)[200]>;

const HELP = `
The daemon continues to work meanwhile, and completes the rebuild even if the command is interrupted. Differences are
expected only for traces that arrived while no pipeline had a service_map processor.

Exit codes:
  0    no differences, or all were corrected
  1    differences with --dry-run, or the command failed`;

/**
 * `jackdaw map`: uses the API of a running daemon.
 *
 * @param exit sets the exit code
 */
export function mapCommand(io: CliIo, exit: (code: number) => void): Command {
  const command = new Command('map').description('Check and rebuild the service map of a daemon.');
  withApiOptions(
    command
      .command('rebuild')
      .description(
        'Rebuild the service maps of all users from stored spans, and report and correct differences.',
      ),
  )
    .option('--dry-run', 'only report, change nothing')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const client = await ApiClient.open(options, io);
      const rebuild = await client.call(rebuildServiceMap, {
        query: { dry_run: options.dryRun === true },
        isLong: true,
      });
      if (options.json === true) showJson(io, rebuild);
      else for (const line of asText(rebuild)) io.out(line);
      if (rebuild.dry_run && hasDifferences(rebuild)) exit(EXIT.failure);
    });
  return command;
}

function asText(rebuild: Rebuild): string[] {
  const { traces, spans, unmapped_traces, differing_spans, differing_sums, examples, corrected } = rebuild;
  const seconds = (rebuild.duration_ms / 1000).toFixed(1);
  const lines = [`Checked ${counted(traces, 'trace')} with ${counted(spans, 'span')} in ${seconds} s.`];
  if (!hasDifferences(rebuild)) return [...lines, 'Nothing differs.'];
  lines.push(
    `Not in the map: ${counted(unmapped_traces, 'trace')}.`,
    `With a different node than derived: ${counted(differing_spans, 'span')} of other traces.`,
    `Different from what was derived: ${counted(differing_sums, 'sum')} of a node or an edge in an hour.`,
    ...examples.map((example) => `  ${printable(example)}`),
    corrected ? 'All differences were corrected.' : 'Nothing was changed.',
  );
  return lines;
}
