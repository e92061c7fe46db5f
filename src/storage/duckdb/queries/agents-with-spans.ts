import { SharedCache } from '../../shared-cache.js';
import { SPANS, TRACES } from '../../tables.js';
import type { Connection, Row } from '../files/connection.js';
import { narrowed, ofCommitsSince } from '../rows/commit-ranges.js';
import { newest } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';
import { IS_CALL } from '../sums/model-sums.js';
import { agentsWithCalls } from './summed-calls.js';
import { hasSpan, type WantedSpans } from './wanted-spans.js';

/** Agents that are kept for all conditions of all users, and of one user; and for one condition. */
const MOST_AGENTS = 200_000;
const MOST_AGENTS_OF_USER = 20_000;
const MOST_AGENTS_OF_CONDITION = 1000;
/** Of a run that began longer ago, as a share of all commits, and goes on, it is not looked up whether it has such a span. */
const LOOKED_BACK = 1 / 16;

/** Of so few spans the runs are looked up one by one. */
const MOST_RARE = 256;

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

  /** @returns null where it is not known, or there are too many */
  async known(
    connection: Connection,
    capture: Capture,
    tenant: number,
    wanted: WantedSpans,
  ): Promise<ReadonlySet<number> | null> {
    const known = this.#kept.get(tenant, nameOf(wanted));
    if (known === undefined || known.agentNos === null) return null;
    // Some of them may have come after what this read sees.
    if (known.seq >= capture.lastSeq) return known.agentNos;
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

  /** Finds it out, which may need a look through all spans. */
  async learn(
    connection: Connection,
    capture: Capture,
    tenant: number,
    wanted: WantedSpans,
  ): Promise<ReadonlySet<number> | null> {
    const known = this.#kept.get(tenant, nameOf(wanted));
    if (known !== undefined) return known.agentNos;
    const rows = await agentsOf({ connection, capture, tenant }, wanted);
    return this.#keep(tenant, wanted, capture.lastSeq, numbersOf(rows));
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

/** Those of rare spans are found by their runs, those that call a model by the sums of calls, and the others among all runs. */
async function agentsOf(
  place: { readonly connection: Connection; readonly capture: Capture; readonly tenant: number },
  wanted: WantedSpans,
): Promise<readonly Row[]> {
  const { connection, capture, tenant } = place;
  const spans = newest(capture, SPANS, wanted.sql);
  const some = await connection.rows(`SELECT trace_id::VARCHAR AS id FROM ${spans} LIMIT ${MOST_RARE + 1}`);
  if (some.length === 0) return [];
  const ofRuns = (condition: string): string =>
    `SELECT DISTINCT agent_no FROM ${newest(capture, TRACES, `tenant = ${tenant}`)} WHERE ${condition}`;
  if (some.length <= MOST_RARE) {
    const ids = [...new Set(some.map(({ id }) => `'${String(id)}'::UUID`))];
    return await connection.rows(ofRuns(`trace_id IN (${ids.join(', ')})`));
  }
  const { onlyModel: model } = wanted;
  if (model !== null && !capture.isAnyAside) {
    // Spans of other types may name a model, too.
    const others = newest(capture, SPANS, `${wanted.sql} AND NOT (${IS_CALL})`);
    const [other] = await connection.rows(`SELECT 1 AS is_there FROM ${others} LIMIT 1`);
    if (other === undefined) return await connection.rows(await agentsWithCalls(place, model));
  }
  return await connection.rows(ofRuns(hasSpan(capture, wanted)));
}

function numbersOf(rows: readonly Row[]): number[] {
  return rows.map(({ agent_no }) => Number(agent_no));
}

function nameOf({ sql, agentNos }: WantedSpans): string {
  return `${agentNos.join(' ')} ${sql}`;
}
