import { AGENT_NODE } from '../../../signal/service-map.js';
import { SharedCache } from '../../shared-cache.js';
import { SPANS, TRACES } from '../../tables.js';
import type { Connection, Row } from '../files/connection.js';
import { narrowed, ofCommitsSince } from '../rows/commit-ranges.js';
import { newest, newestHot } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';
import { agentsWithKinds } from '../sums/agent-spans.js';
import { changedRuns, withAgent } from '../sums/agents-of-runs.js';
import { hasSpan, type WantedSpans } from './wanted-spans.js';

/** Agents that are kept for all conditions of all users, and of one user; and for one condition. */
const MOST_AGENTS = 200_000;
const MOST_AGENTS_OF_USER = 20_000;
const MOST_AGENTS_OF_CONDITION = 1000;
/** Of a run that began longer ago, as a share of all commits, and goes on, it is not looked up whether it has such a span. */
const LOOKED_BACK = 1 / 16;

/** Agents one of whose runs has one of some spans, as of a commit; null: too many to tell apart. */
interface KnownAgents {
  readonly seq: number;
  readonly agentNos: ReadonlySet<number> | null;
}

/**
 * Which agents have runs with certain spans, so that runs of others need not be looked through: an agent mostly does the same in all of its
 * runs. There may be agents too many, never too few. What came since somebody asked is looked through when somebody asks again.
 */
export class AgentsWithSpans {
  readonly #kept = new SharedCache<KnownAgents>({
    mostSize: MOST_AGENTS,
    mostSizeOfUser: MOST_AGENTS_OF_USER,
  });

  /** @returns null where there are too many */
  async of(
    connection: Connection,
    capture: Capture,
    tenant: number,
    wanted: WantedSpans,
  ): Promise<ReadonlySet<number> | null> {
    const known = this.#kept.get(tenant, nameOf(wanted));
    if (known === undefined) {
      const rows = await agentsOf({ connection, capture, tenant }, wanted);
      return this.#keep(tenant, wanted, capture.lastSeq, numbersOf(rows));
    }
    // Some of them may have come after what this read sees.
    if (known.agentNos === null || known.seq >= capture.lastSeq) return known.agentNos;
    const since = ofCommitsSince(known.seq + 1);
    const changed = `(SELECT agent_no, trace_id, first_seq FROM ${newest(capture, TRACES, narrowed(since, `tenant = ${tenant} AND last_seq > 0`))})`;
    const oldest = Math.floor(known.seq - capture.lastSeq * LOOKED_BACK);
    const [row] = await connection.rows(
      `SELECT min(first_seq) FILTER (first_seq >= ${oldest}) AS first FROM ${changed}`,
    );
    const first = row?.first ?? null;
    const has = first === null ? 'FALSE' : hasSpan(capture, wanted, ofCommitsSince(Number(first)));
    const rows = await connection.rows(
      `SELECT DISTINCT agent_no FROM ${changed} WHERE first_seq < ${oldest} OR ${has}`,
    );
    return this.#keep(tenant, wanted, capture.lastSeq, [...known.agentNos, ...numbersOf(rows)]);
  }

  #keep(
    tenant: number,
    wanted: WantedSpans,
    seq: number,
    agents: readonly number[],
  ): ReadonlySet<number> | null {
    const all = new Set(agents);
    const agentNos = all.size > MOST_AGENTS_OF_CONDITION ? null : all;
    this.#kept.put(tenant, nameOf(wanted), { seq, agentNos }, 1 + (agentNos?.size ?? 0));
    return agentNos;
  }
}

/**
 * By what the agents of the cold file have among their spans, and by the spans of hot segments: there may be agents too many, such as
 * those whose spans are gone.
 */
async function agentsOf(
  place: { readonly connection: Connection; readonly capture: Capture; readonly tenant: number },
  wanted: WantedSpans,
): Promise<readonly Row[]> {
  const { connection, capture, tenant } = place;
  const { sql, agentNos } = wanted;
  if (capture.isAnyAside) {
    // The header of a span in a segment that is set aside may lie in the cold file.
    const runs = newest(capture, TRACES, `tenant = ${tenant}`);
    return await connection.rows(`SELECT DISTINCT agent_no FROM ${runs} WHERE ${hasSpan(capture, wanted)}`);
  }
  const isNamed = `agent_no IN (${agentNos.join(', ')})`;
  const kinds = agentNos.length === 0 ? sql : `${sql} AND (node_no <> ${AGENT_NODE} OR ${isNamed})`;
  const statements = [agentsWithKinds(tenant, kinds)];
  const runs = newestHot(capture, TRACES, `tenant = ${tenant}`);
  const spans = newestHot(capture, SPANS, sql);
  if (runs !== null && spans !== null) {
    // A run whose agent is another one now takes its spans in the cold file along, whatever they are.
    statements.push(`SELECT new_no FROM ${(await changedRuns(connection, runs)).runs}`);
    statements.push(`SELECT agent_no FROM ${withAgent(spans, runs)}`);
  }
  return await connection.rows(statements.join(' UNION '));
}

function numbersOf(rows: readonly Row[]): number[] {
  return rows.map(({ agent_no }) => Number(agent_no));
}

function nameOf({ sql, agentNos }: WantedSpans): string {
  return `${agentNos.join(' ')} ${sql}`;
}
