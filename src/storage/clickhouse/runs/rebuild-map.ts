import { randomUUID } from 'node:crypto';
import { ConsumeError } from '../../../component/consume-error.js';
import type { JsonObject } from '../../../signal/attributes.js';
import { itemAt, invariant } from '../../../signal/checked.js';
import { AGENT, serviceNodeOf } from '../../../signal/service-node.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import type { Leases } from '../../contracts/coordination.js';
import type { MapRebuild } from '../../contracts/service-map.js';
import type { Row } from '../client/connection.js';
import type { Reads } from '../client/reads.js';
import type { PAYLOAD_COLUMNS } from '../tables/run-tables.js';
import { MESSAGES, SPANS } from '../tables/run-tables.js';
import { NodeNumbers, serializedAgentNode, nodeFromRow } from './node-names.js';
import type { RunQueue } from './run-queue.js';
import { readFacts, type WantedTrace } from './stored-facts.js';
import { deriveRun, type AddedEdge, type AddedNode } from './derive-run.js';
import type { Inserts } from './write-runs.js';

/** Traces per step. */
const TRACES_A_STEP = 200;
/** Duration of the lease of a rebuild, renewed in each step. */
const LEASE_MS = 60_000;
const MOST_EXAMPLES = 10;

export interface RebuildParts {
  readonly reads: Reads;
  readonly inserts: Inserts;
  readonly queue: Pick<RunQueue, 'write'>;
  readonly leases: Leases;
  /** The identity of the store. */
  readonly store: string;
  readonly owner: string;
  /** Milliseconds. */
  readonly now: () => number;
  readonly userOf: (tenant: number) => Promise<string>;
}

/** Counters of the rebuild. */
interface Found {
  traces: number;
  spans: number;
  unmapped_traces: number;
  differing_spans: number;
  differing_sums: number;
  readonly examples: string[];
}

/**
 * Derives the nodes of all stored spans again and compares them. Unless it is a dry run, rewrites the rows that differ and applies their
 * runs. Only one process does it at a time.
 *
 * @returns null while another rebuild is running
 * @throws ConsumeError `storage_unavailable` if the lease was lost before all traces were checked
 */
export async function rebuildMap(parts: RebuildParts, isDryRun: boolean): Promise<MapRebuild | null> {
  const { leases, store, owner, now } = parts;
  const lease = await leases.take(`clickhouse/${store}/map`, `${owner}/${randomUUID()}`, LEASE_MS);
  if (lease === null) return null;
  const began = now();
  const found: Found = {
    traces: 0,
    spans: 0,
    unmapped_traces: 0,
    differing_spans: 0,
    differing_sums: 0,
    examples: [],
  };
  try {
    for (let after: WantedTrace | null = null; ;) {
      const traces: readonly WantedTrace[] = await nextTraces(parts.reads, after);
      if (traces.length > 0) await rebuildSome(parts, traces, found, isDryRun);
      after = traces.at(-1) ?? null;
      if (traces.length < TRACES_A_STEP) break;
      if (!(await leases.renew(lease, LEASE_MS))) throw lostLease(found.traces);
    }
  } finally {
    await leases.release(lease);
  }
  const isWrong = found.unmapped_traces + found.differing_spans + found.differing_sums > 0;
  return { dry_run: isDryRun, ...found, corrected: isWrong && !isDryRun, duration_ms: now() - began };
}

function lostLease(traces: number): ConsumeError {
  const detail = `The rebuild stopped after ${String(traces)} traces because another process may have started one. Run it again.`;
  return new ConsumeError(detail, { code: 'storage_unavailable', retryable: true, detail });
}

async function nextTraces(reads: Reads, after: WantedTrace | null): Promise<WantedTrace[]> {
  const behind =
    after === null ? '' : `AND (tenant, trace_id) > (${after.tenant}, toUUID('${after.traceId}'))`;
  const rows = await reads.rows(
    `SELECT tenant, trace_id FROM messages WHERE kind = 'header' ${behind} GROUP BY tenant, trace_id ORDER BY tenant, trace_id LIMIT ${TRACES_A_STEP}`,
  );
  return rows.map((row) => ({ tenant: Number(row.tenant), traceId: String(row.trace_id) }));
}

async function rebuildSome(
  { reads, inserts, queue, userOf }: RebuildParts,
  traces: readonly WantedTrace[],
  found: Found,
  isDryRun: boolean,
): Promise<void> {
  const numbers = new NodeNumbers();
  const facts = await readFacts(reads, traces, new Map(), numbers);
  const spans: Row[] = [];
  const messages: WantedTrace[] = [];
  const toApply: WantedTrace[] = [];
  const kept = await keptSums(reads, traces);
  for (const each of facts) {
    const { tenant, traceId } = each;
    const hours = each.messages.flatMap((message) => (message.kind === 'header' ? message.hours : []));
    if (hours.length === 0) continue;
    const rows = await reads.rows(
      `SELECT * FROM spans WHERE tenant = ${tenant} AND hour IN (${[...new Set(hours)].join(', ')}) AND trace_id = '${traceId}' ORDER BY seq, version DESC LIMIT 1 BY span_id, seq`,
    );
    const nodes = new Map(rows.map((row) => [`${String(row.span_id)} ${Number(row.seq)}`, derivedNode(row)]));
    const isMapped = each.messages.some((message) => message.kind === 'header' && message.isMapped);
    const differing = rows.filter(
      (row) => Number(row.seq) > 0 && nodes.get(`${String(row.span_id)} ${Number(row.seq)}`) !== row.node,
    );
    const right = deriveRun(
      {
        ...each,
        messages: each.messages.map((one) => (one.kind === 'header' ? { ...one, isMapped: true } : one)),
        spans: each.spans.map((span) => ({
          ...span,
          node: numbers.numberOf(
            invariant(nodes.get(`${span.row.span_id} ${span.order}`), 'node of a span that is stored'),
          ),
        })),
      },
      numbers,
    );
    found.traces++;
    found.spans += right?.run.spans.length ?? 0;
    const differs = isMapped && right !== null ? differences(right, kept.get(`${tenant} ${traceId}`)) : 0;
    if (!isMapped) found.unmapped_traces++;
    else found.differing_spans += differing.length;
    found.differing_sums += differs;
    if (isMapped && differing.length === 0 && differs === 0) continue;
    if (found.examples.length < MOST_EXAMPLES)
      found.examples.push(
        `User ${await userOf(tenant)}, trace ${traceId}: ${isMapped ? 'its nodes or edges differ from those of its spans' : 'is not in the map'}`,
      );
    spans.push(
      ...differing.map((row) => ({
        ...row,
        version: 1,
        node: nodes.get(`${String(row.span_id)} ${Number(row.seq)}`),
      })),
    );
    messages.push({ tenant, traceId });
    toApply.push({ tenant, traceId });
  }
  if (isDryRun || toApply.length === 0) return;
  await inserts.insert(
    SPANS,
    spans.map((fields) => ({ fields })),
  );
  const pairs = messages.map(({ tenant, traceId }) => `(${tenant}, '${traceId}')`).join(', ');
  const headers = await reads.rows(
    `SELECT * FROM messages FINAL WHERE (tenant, trace_id) IN (${pairs}) AND kind = 'header'`,
  );
  const mapped = headers.map((row) => ({ fields: { is_mapped: true }, rest: row }));
  await inserts.insert(MESSAGES, mapped);
  await Promise.all(
    toApply.map(
      async (trace) =>
        await queue.write({ kind: 'message', ...trace, at: 0, message: { kind: 'recompute' } }),
    ),
  );
}

/** The contributions to the map in the rows of runs. */
async function keptSums(
  reads: Reads,
  traces: readonly WantedTrace[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const pairs = traces.map(({ tenant, traceId }) => `(${tenant}, '${traceId}')`).join(', ');
  const rows = await reads.rows(
    `SELECT tenant, trace_id, nodes, edges FROM runs FINAL WHERE (tenant, trace_id) IN (${pairs})`,
  );
  return new Map(
    rows.map((row) => [
      `${Number(row.tenant)} ${String(row.trace_id)}`,
      linesOf(row.nodes as readonly AddedNode[], row.edges as readonly AddedEdge[]),
    ]),
  );
}

function linesOf(nodes: readonly AddedNode[], edges: readonly AddedEdge[]): ReadonlySet<string> {
  return new Set([
    ...nodes.map(({ name, type, grade, spans, traces }) =>
      JSON.stringify([name, type, grade, spans, traces]),
    ),
    ...edges.map(({ source, target, grade, spans }) => JSON.stringify([source, target, grade, spans])),
  ]);
}

function differences(
  { nodes, edges }: { readonly nodes: readonly AddedNode[]; readonly edges: readonly AddedEdge[] },
  kept: ReadonlySet<string> | undefined,
): number {
  const right = linesOf(nodes, edges);
  const there = kept ?? new Set<string>();
  return (
    [...right].filter((line) => !there.has(line)).length +
    [...there].filter((line) => !right.has(line)).length
  );
}

/** Derives the node of a span from its row. */
function derivedNode(row: Row): string {
  const node = serviceNodeOf({
    type: itemAt(SPAN_TYPES, Number(row.type)),
    name: String(row.name),
    map_hint: row.map_hint as string | null,
    input_data: objectIn(row, 'input'),
    metadata: objectIn(row, 'metadata'),
  });
  if (node === null) return '';
  return node === AGENT ? serializedAgentNode : nodeFromRow(node);
}

function objectIn(row: Row, part: (typeof PAYLOAD_COLUMNS)[number]['name']): JsonObject | null {
  const json = row[part];
  return typeof json === 'string' ? (JSON.parse(json) as JsonObject) : null;
}
