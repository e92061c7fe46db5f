import { TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { CommitRanges, conditionsOn } from './commit-ranges.js';
import { isVersionOf, newestOf, rowsOf } from './relation.js';
import type { Segment } from './segment.js';

/** The headers of the cold file, which give the agent of each run. A newer header may change the agent. */

export const COLD_RUNS = `cold.main.${TRACES.name}`;

/** How newer headers change runs in the cold file. */
export interface ChangedRuns {
  /** A relation of the runs whose agent changes from `old_no` to `new_no`. */
  readonly runs: string;
  /** Conditions on the commits of their spans. Empty if no such run has spans. */
  readonly commits: readonly string[];
  /** All runs with newer headers, with the agents that their calls are counted for in the cold file. */
  readonly before: string;
}

/**
 * Resolves how newer headers change runs in the cold file.
 *
 * @param newer headers, the newest of each run
 * @param all `newer` and possibly further headers; the agents of runs are looked up in it
 */
export async function changedRuns(connection: Connection, newer: string, all = newer): Promise<ChangedRuns> {
  // A run with spans in the cold file has a header there, from the same commit as its first span or later.
  const [first] = await connection.rows(
    `SELECT min(first_seq) AS seq FROM ${newer} WHERE replaces AND first_seq > 0`,
  );
  const older = `(SELECT * FROM ${COLD_RUNS} WHERE last_seq > 0 AND seq >= ${Number(first?.seq ?? 0)})`;
  const runs = `(SELECT o.tenant, o.trace_id, o.agent_no AS old_no, n.agent_no AS new_no, o.first_seq, o.last_seq, o.commits
    FROM (SELECT * FROM ${newer} WHERE replaces) n JOIN ${older} o ON ${isVersionOf(TRACES, 'n', 'o')} AND n.seq > o.seq AND n.agent_no <> o.agent_no)`;
  const rows = await connection.rows(`SELECT first_seq, last_seq, commits FROM ${runs}`);
  if (rows.length === 0) return { runs, commits: [], before: all };
  const places = rows.map(({ first_seq: first, last_seq: last, commits }) =>
    CommitRanges.stored({
      first: Number(first),
      last: Number(last),
      printed: typeof commits === 'string' ? commits : null,
    }),
  );
  return {
    runs,
    commits: conditionsOn(places).map(({ sql }) => sql),
    before: `(SELECT h.tenant, h.trace_id, coalesce(r.old_no, h.agent_no) AS agent_no FROM ${all} h LEFT JOIN ${runs} r ON ${isVersionOf(TRACES, 'r', 'h')})`,
  };
}

/** The runs of a segment that is about to be compacted. */
export interface MovedRuns {
  /** A relation of the newest header of each run with spans in the segment. */
  readonly headers: string;
  /** How they change runs in the cold file; null if none replaces a stored header. */
  readonly changed: ChangedRuns | null;
}

/** @param isAnyQuarantined whether segments are quarantined */
export async function movedRuns(
  connection: Connection,
  segment: Segment,
  isAnyQuarantined: boolean,
): Promise<MovedRuns> {
  const hasChanged = (segment.replacing.get(TRACES.name) ?? 0) > 0;
  const all = rowsOf(segment, TRACES);
  const runs = hasChanged ? newestOf(TRACES, all, `(SELECT * FROM ${all} WHERE replaces)`) : all;
  // Every commit with spans also writes the header, but the header of a segment that was quarantined may be superseded.
  const headers = isAnyQuarantined
    ? `(SELECT tenant, trace_id, agent_no FROM ${runs} UNION ALL SELECT tenant, trace_id, agent_no FROM ${COLD_RUNS} c WHERE NOT EXISTS (SELECT 1 FROM ${runs} h WHERE ${isVersionOf(TRACES, 'h', 'c')}))`
    : runs;
  return { headers, changed: hasChanged ? await changedRuns(connection, runs, headers) : null };
}

/** Spans with the agent of their run. */
export function withAgent(spans: string, runs: string): string {
  return `(SELECT s.*, h.agent_no FROM ${spans} s JOIN ${runs} h ON h.tenant = s.tenant AND h.trace_id = s.trace_id)`;
}
