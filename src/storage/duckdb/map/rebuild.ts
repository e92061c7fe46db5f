import { hasDifferences, type MapRebuild } from '../../map-rebuild.js';
import type { Agents } from '../agents.js';
import type { Read } from '../read.js';
import type { Writer } from '../writer.js';
import { Findings } from './rebuild-findings.js';
import { rebuildNodes } from './rebuild-nodes.js';
import { rebuildSums } from './rebuild-sums.js';
import type { Services } from './services.js';

/** How much a rebuild does at once. */
export interface RebuildSize {
  /** Spans that are looked at while a read connection is held. */
  readonly page: number;
  /** Spans and traces that are sorted by trace. */
  readonly part: number;
}

/** A page takes less than a tenth of a second, and a part some 40 MB. */
export const REBUILD_SIZE: RebuildSize = { page: 20_000, part: 500_000 };

/** What a rebuild of the service map works with. */
export interface RebuildParts {
  readonly read: Read;
  readonly writer: Writer;
  readonly services: Services;
  readonly agents: Agents;
  /** The id of a tenant's user. */
  readonly userOf: (tenant: number) => string;
  readonly size: RebuildSize;
}

/** A rebuild under way. */
export interface RebuildWork extends RebuildParts {
  /** Whether nothing is to be changed. */
  readonly dryRun: boolean;
  readonly findings: Findings;
  /** @throws when the store is closing: called between any two steps of the work */
  readonly throwIfStopped: () => void;
}

/**
 * Derives the service map afresh from everything stored, compares it with what is stored of it, and corrects what differs.
 * Commits and reads go on meanwhile. No traces may be removed meanwhile: their sums go in another step than they do.
 *
 * @throws ConsumeError `storage_unavailable`, when the store is closing, too; what was corrected until then stays
 */
export async function rebuildMap(
  parts: RebuildParts,
  options: Pick<RebuildWork, 'dryRun' | 'throwIfStopped'>,
): Promise<MapRebuild> {
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
