import { AGENT_NODE } from '../../../signal/service-map.js';
import { SharedCache } from '../../shared/shared-cache.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { newest, newestHot } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { agentsWithKinds } from '../segments/agent-spans.js';
import { changedRuns, withAgent } from '../segments/agents-of-runs.js';
import { hasSpan, type WantedSpans } from './wanted-spans.js';

/** Maximum cached agents: for all conditions of all users, of one user, and for one condition. */
const MOST_AGENTS = 200_000;
const MOST_AGENTS_OF_USER = 20_000;
const MOST_AGENTS_OF_CONDITION = 1000;

/** Agents that have a run with a wanted span, as of commit `seq`; null if there are too many to list. */
interface KnownAgents {
  readonly seq: number;
  readonly agentNos: ReadonlySet<number> | null;
}

const NO_AGENTS: ReadonlySet<number> = new Set();

/**
 * Caches which agents have runs with certain spans, so that runs of other agents are not searched; it may return too many agents,
 * never too few. Target: runs of a tool or model in 100 ms over ten million spans. Over one million, an unused tool takes 42 ms
 * of processor time without it and 1 ms with it; the slowest model 85 and 40 ms.
 */
export class AgentsWithSpans {
  readonly #kept = new SharedCache<KnownAgents>({
    mostSize: MOST_AGENTS,
    mostSizeOfUser: MOST_AGENTS_OF_USER,
  });

  /** The agents found last time, even if outdated; empty if there were too many or the cache has no entry. */
  foundLast(tenant: number, wanted: WantedSpans): ReadonlySet<number> {
    return this.#kept.get(tenant, nameOf(wanted))?.agentNos ?? NO_AGENTS;
  }

  /** @returns null if there are too many agents */
  async of(
    connection: Connection,
    capture: Capture,
    tenant: number,
    wanted: WantedSpans,
  ): Promise<ReadonlySet<number> | null> {
    const known = this.#kept.get(tenant, nameOf(wanted));
    // May include agents from commits after this capture.
    if (known !== undefined && known.seq >= capture.lastSeq) return known.agentNos;
    const rows = await agentsOf({ connection, capture, tenant }, wanted);
    const all = new Set(rows.map(({ agent_no }) => Number(agent_no)));
    const agentNos = all.size > MOST_AGENTS_OF_CONDITION ? null : all;
    this.#kept.put(tenant, nameOf(wanted), { seq: capture.lastSeq, agentNos }, 1 + (agentNos?.size ?? 0));
    return agentNos;
  }
}

/**
 * From the sums of the cold file and the spans of hot segments. May include too many agents, such as agents whose spans were
 * removed.
 */
async function agentsOf(
  place: { readonly connection: Connection; readonly capture: Capture; readonly tenant: number },
  wanted: WantedSpans,
): Promise<readonly Row[]> {
  const { connection, capture, tenant } = place;
  const { sql, agentNos } = wanted;
  if (capture.isAnyQuarantined) {
    // The header of a span may be in the cold file even if its segment is quarantined.
    const runs = newest(capture, TRACES, `tenant = ${tenant}`);
    return await connection.rows(`SELECT DISTINCT agent_no FROM ${runs} WHERE ${hasSpan(capture, wanted)}`);
  }
  const isNamed = `agent_no IN (${agentNos.join(', ')})`;
  const kinds = agentNos.length === 0 ? sql : `${sql} AND (node_no <> ${AGENT_NODE} OR ${isNamed})`;
  const statements = [agentsWithKinds(tenant, kinds)];
  const runs = newestHot(capture, TRACES, `tenant = ${tenant}`);
  const spans = newestHot(capture, SPANS, sql);
  if (runs !== null && spans !== null) {
    // If the agent of a run changed, the new agent also gets the run's spans in the cold file.
    statements.push(`SELECT new_no FROM ${(await changedRuns(connection, runs)).runs}`);
    statements.push(`SELECT agent_no FROM ${withAgent(spans, runs)}`);
  }
  return await connection.rows(statements.join(' UNION '));
}

function nameOf({ sql, agentNos }: WantedSpans): string {
  return `${agentNos.join(' ')} ${sql}`;
}
