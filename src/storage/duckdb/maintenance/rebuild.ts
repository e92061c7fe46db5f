import { hasDifferences, type MapRebuild } from '../../contracts/service-map.js';
import type { Read } from '../segments/read.js';
import { Findings, type Example } from './rebuild-findings.js';
import { rebuildNodes } from './rebuild-nodes.js';
import { rebuildSums } from './rebuild-sums.js';
import type { RebuildParts, RebuildWork } from './rebuild-work.js';

/** The result of a rebuild, with tenant numbers in place of user ids. */
export interface Rebuilt extends Omit<MapRebuild, 'examples'> {
  readonly examples: readonly Example[];
}

/**
 * Derives the service map from all stored data, compares it with the stored map, and corrects differences. Commits and reads
 * continue in the meantime. No traces may be removed in the meantime, because retention removes their sums in a separate step.
 *
 * @throws ConsumeError `storage_unavailable`, also if the store is closing; earlier corrections stay
 */
export async function rebuildMap(
  parts: RebuildParts,
  options: Pick<RebuildWork, 'dryRun' | 'throwIfStopped'>,
): Promise<Rebuilt> {
  const begun = performance.now();
  const findings = new Findings();
  const read: Read = async (look) => {
    options.throwIfStopped();
    return await parts.read(look);
  };
  const work = { ...parts, ...options, read, findings };
  const spans = await rebuildNodes(work);
  const traces = await rebuildSums(work);
  const found = {
    unmapped_traces: findings.count('traces'),
    differing_spans: findings.count('spans'),
    differing_sums: findings.count('sums'),
  };
  return {
    dry_run: options.dryRun,
    traces,
    spans,
    ...found,
    corrected: !options.dryRun && hasDifferences(found),
    examples: findings.examples,
    duration_ms: Math.round(performance.now() - begun),
  };
}
