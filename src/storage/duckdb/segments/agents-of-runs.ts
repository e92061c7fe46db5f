import { TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { CommitRanges, conditionsOn } from './commit-ranges.js';
import { isVersionOf, newestOf, rowsOf } from './relation.js';
import type { Segment } from './segment.js';

/** Whose the spans are: the agents of runs, some of which change when a newer header says more. */

export const COLD_RUNS = `cold.main.${TRACES.name}`;

/** What newer headers make of the runs of the cold file. */
export interface ChangedRuns {
  /** Those whose agent is another one now (`new_no`) than there (`old_no`), as a relation. */
  readonly runs: string;
  /** Conditions on the commits of their spans. There are none where there is no such run with spans. */
  readonly commits: readonly string[];
  /** All that the newer headers are about, with the agents by which their calls are counted there. */
  readonly before: string;
}

/**
 * @param newer headers, the newest of each run
 * @param all these, or more of them: where the agents of runs are looked up
 */
export async function changedRuns(connection: Connection, newer: string, all = newer): Promise<ChangedRuns> {
  // What has spans in the cold file has a header there that came with the first of them, or later.
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

/** Whose the spans of a segment are that is about to be moved. */
export interface MovedRuns {
  /** The headers of all its spans, the newest of each run, as a relation. */
  readonly headers: string;
  /** What they change; null where none replaces another. */
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
  // Every commit that brings spans brings the header, too; but that of a segment which was quarantined may have been replaced.
  const headers = isAnyQuarantined
    ? `(SELECT tenant, trace_id, agent_no FROM ${runs} UNION ALL SELECT tenant, trace_id, agent_no FROM ${COLD_RUNS} c WHERE NOT EXISTS (SELECT 1 FROM ${runs} h WHERE ${isVersionOf(TRACES, 'h', 'c')}))`
    : runs;
  return { headers, changed: hasChanged ? await changedRuns(connection, runs, headers) : null };
}

/** Spans with the agent of their run. */
export function withAgent(spans: string, runs: string): string {
  return `(SELECT s.*, h.agent_no FROM ${spans} s JOIN ${runs} h ON h.tenant = s.tenant AND h.trace_id = s.trace_id)`;
}
