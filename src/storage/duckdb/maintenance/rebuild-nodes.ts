import { wordAt } from '../../../signal/checked.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import { narrowed } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { newest } from '../segments/relation.js';
import type { RemapChange } from '../write/change.js';
import { commitPages, within } from './commit-pages.js';
import { nameTrace } from './rebuild-findings.js';
import type { RebuildWork } from './rebuild-work.js';
import { SpanPage } from './span-page.js';

/** Traces per commit. Each is reloaded, which delays the writes of all users. */
const REMAP_TRACES = 25;
/** Truncated runs do not count in the map. */
const UNMAPPED = 'NOT is_mapped AND closed_seq = 0';

/**
 * Finds traces that are not in the map, and spans whose stored node differs from the derived one, and rebuilds the nodes of their
 * traces. Of the traces in the map only those present at the start are checked; commits handle later ones.
 *
 * @returns the number of spans
 */
export async function rebuildNodes(work: RebuildWork): Promise<number> {
  await mapTheUnmapped(work);
  const pages = await work.read((connection, capture) =>
    commitPages(connection, newest(capture, SPANS), work.size.page),
  );
  for (const page of pages) {
    const differing = await work.read((connection, capture) =>
      new SpanPage(work, connection, capture, page).check(),
    );
    if (!work.dryRun) await remap(work, differing);
  }
  if (!work.dryRun) await numberAgents(work);
  return pages.reduce((sum, { rows }) => sum + rows, 0);
}

async function mapTheUnmapped(work: RebuildWork): Promise<void> {
  const pages = await work.read((connection, capture) =>
    commitPages(connection, newest(capture, TRACES, UNMAPPED), work.size.page),
  );
  for (const page of pages) {
    const traces = await work.read(async (connection, capture) => {
      const where = narrowed(within(page), UNMAPPED);
      return await tracesIn(connection, `SELECT tenant, trace_id FROM ${newest(capture, TRACES, where)}`);
    });
    for (const { tenant, words } of traces) {
      work.findings.add('traces', tenant, () => `${nameTrace(words, 0)} was not in the map.`);
    }
    if (!work.dryRun) await remap(work, traces);
  }
}

/** Assigns numbers to agent names without one, through one trace each: sums can only be corrected by number. */
async function numberAgents(work: RebuildWork): Promise<void> {
  const { agents, services } = work;
  const traces = await work.read(async (connection, capture) => {
    const ofAgents = `SELECT tenant, min(trace_id), agent_no FROM ${newest(capture, TRACES, 'is_mapped')} GROUP BY tenant, agent_no`;
    return await tracesIn(connection, ofAgents, (tenant, agentNo) => {
      const name = agents.byNumber(agentNo)?.name ?? '';
      return services.find(tenant, name) === undefined;
    });
  });
  await remap(work, traces);
}

/**
 * @param sql selects the columns tenant and trace id
 * @param isWanted gets the tenant and the third column, if any; without it all traces are selected
 */
async function tracesIn(
  connection: Connection,
  sql: string,
  isWanted?: (tenant: number, third: number) => boolean,
): Promise<RemapChange[]> {
  const traces: RemapChange[] = [];
  for await (const chunk of connection.wholeChunks(sql)) {
    const tenants = chunk.words(0, 4);
    const ids = chunk.words(1, 16);
    const thirds = isWanted === undefined ? null : chunk.words(2, 4);
    for (let row = 0; row < chunk.rows; row++) {
      if (thirds !== null && isWanted?.(wordAt(tenants, row), wordAt(thirds, row)) !== true) continue;
      traces.push({ kind: 'remap', tenant: wordAt(tenants, row), words: ids.slice(row * 4, row * 4 + 4) });
    }
  }
  return traces;
}

async function remap({ writer, throwIfStopped }: RebuildWork, traces: readonly RemapChange[]): Promise<void> {
  for (let next = 0; next < traces.length; next += REMAP_TRACES) {
    throwIfStopped();
    const some = traces.slice(next, next + REMAP_TRACES);
    await Promise.all(some.map((trace) => writer.write(trace)));
  }
}
