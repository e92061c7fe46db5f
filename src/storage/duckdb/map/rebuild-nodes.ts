import { SPANS, TRACES } from '../../tables.js';
import type { Connection } from '../database.js';
import { newest } from '../relation.js';
import type { RemapChange } from '../write-group.js';
import { commitPages, within } from './commit-pages.js';
import { nameTrace } from './rebuild-findings.js';
import type { RebuildWork } from './rebuild.js';
import { SpanPage } from './span-page.js';

/** Traces of one commit. Each of them is read, and whoever sends spans meanwhile waits for it. */
const REMAP_TRACES = 25;
const UNMAPPED = 'NOT is_mapped';

/**
 * Looks for traces that are not in the map and for spans whose stored node is not the one that follows from what is
 * stored of them, and has the nodes of their traces derived anew. Of traces in the map only what was there when it begins;
 * of later ones the commit takes care.
 *
 * @returns how many spans there are
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
      const where = `${UNMAPPED} AND ${within(page)}`;
      return await tracesIn(connection, `SELECT tenant, trace_id FROM ${newest(capture, TRACES, where)}`);
    });
    for (const { tenant, words } of traces) {
      work.findings.add('traces', () => `${nameTrace(work.userOf(tenant), words, 0)} was not in the map.`);
    }
    if (!work.dryRun) await remap(work, traces);
  }
}

/** Agents whose names have no number get one, by a trace of each: sums cannot be corrected without. */
async function numberAgents(work: RebuildWork): Promise<void> {
  const { agents, services } = work;
  const traces = await work.read(async (connection, capture) => {
    const unnumbered = (
      await connection.rows(`SELECT DISTINCT tenant, agent_no FROM ${newest(capture, TRACES, 'is_mapped')}`)
    ).filter(({ tenant, agent_no: agentNo }) => {
      const name = agents.byNumber(Number(agentNo))?.name ?? '';
      return services.find(Number(tenant), name) === undefined;
    });
    if (unnumbered.length === 0) return [];
    const numbers = unnumbered.map(({ agent_no: agentNo }) => Number(agentNo)).join(', ');
    return await tracesIn(
      connection,
      `SELECT tenant, min(trace_id) FROM ${newest(capture, TRACES, `is_mapped AND agent_no IN (${numbers})`)} GROUP BY tenant, agent_no`,
    );
  });
  await remap(work, traces);
}

/** @param sql with the columns tenant and trace id */
async function tracesIn(connection: Connection, sql: string): Promise<RemapChange[]> {
  const traces: RemapChange[] = [];
  for await (const chunk of connection.wholeChunks(sql)) {
    const tenants = chunk.words(0, 4);
    const ids = chunk.words(1, 16);
    for (let row = 0; row < chunk.rows; row++) {
      traces.push({ tenant: tenants[row] ?? 0, words: ids.slice(row * 4, row * 4 + 4) });
    }
  }
  return traces;
}

async function remap({ writer, throwIfStopped }: RebuildWork, traces: readonly RemapChange[]): Promise<void> {
  for (let next = 0; next < traces.length; next += REMAP_TRACES) {
    throwIfStopped();
    const some = traces.slice(next, next + REMAP_TRACES);
    await Promise.all(some.map((trace) => writer.write({ remap: trace })));
  }
}
