import { wordAt } from '../../../signal/checked.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import { ofCommitsBetween, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import type { Read } from '../segments/read.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { AddId, IdRows } from './id-rows.js';
import type { CommitRange } from '../files/run-names.js';
import { idInTrace } from './span-id.js';

/**
 * The ids of the spans of truncated runs, which have more spans than their headers follow. Each span has the commit of its newest
 * version, or the commit that truncated its run if that is later.
 */
export class TruncatedSpanIds implements IdRows {
  readonly #read: Read;

  constructor(read: Read) {
    this.#read = read;
  }

  async scan(range: CommitRange, add: AddId): Promise<void> {
    await this.#read(async (connection, capture) => {
      const rows = await rowsOf(connection, capture, range);
      if (rows === null) return;
      const id = new Uint32Array(4);
      for await (const chunk of connection.chunks(`SELECT tenant, trace_id, span_id, no FROM ${rows}`)) {
        const tenants = chunk.words(0, 4);
        const [traceIds, spanIds] = [chunk.words(1, 16), chunk.words(2, 16)];
        const seqs = chunk.words(3, 8);
        for (let row = 0; row < chunk.rows; row++) {
          idInTrace(traceIds, row * 4, spanIds, row * 4, id);
          add(wordAt(tenants, row), id, 0, int64At(seqs, row));
        }
      }
    });
  }

  async count(range: CommitRange): Promise<number> {
    return await this.#read(async (connection, capture) => {
      const rows = await rowsOf(connection, capture, range);
      if (rows === null) return 0;
      const [row] = await connection.rows(`SELECT count(*) AS ids FROM ${rows}`);
      return Number(row?.ids);
    });
  }

  async cut(range: CommitRange, ids: number): Promise<number[]> {
    return await this.#read(async (connection, capture) => {
      const rows = await rowsOf(connection, capture, range);
      if (rows === null) return [];
      const commits = `SELECT no, count(*) AS ids FROM ${rows} GROUP BY no`;
      const parts = `SELECT no, (sum(ids) OVER (ORDER BY no) - 1) // ${ids} AS part FROM (${commits})`;
      const cuts = await connection.rows(`SELECT max(no) AS no FROM (${parts}) GROUP BY part ORDER BY no`);
      return cuts.map(({ no }) => Number(no));
    });
  }
}

/** The spans of truncated runs in a range of commits, with their commit as `no`; null if no run is truncated. */
async function rowsOf(
  connection: Connection,
  capture: Capture,
  { after, upTo }: CommitRange,
): Promise<string | null> {
  const closed = newest(capture, TRACES, 'closed_seq > 0');
  const [known] = await connection.rows(
    `SELECT min(first_seq) AS first, min(first_seq) FILTER (WHERE closed_seq > ${after} AND closed_seq <= ${upTo}) AS closing FROM ${closed}`,
  );
  if (typeof known?.first !== 'number') return null;
  const joined = (where: OfCommits, condition: string, no: string): string =>
    `SELECT s.tenant, s.trace_id, s.span_id, ${no} AS no FROM ${newest(capture, SPANS, where)} s
     JOIN ${closed} c ON c.tenant = s.tenant AND c.trace_id = s.trace_id WHERE ${condition}`;
  const parts = [joined(ofCommitsBetween(after + 1, upTo), 's.seq >= c.closed_seq', 's.seq')];
  if (typeof known.closing === 'number') {
    const isClosing = `s.seq < c.closed_seq AND c.closed_seq > ${after} AND c.closed_seq <= ${upTo}`;
    parts.push(joined(ofCommitsBetween(known.closing, upTo - 1), isClosing, 'c.closed_seq'));
  }
  return `(${parts.join(' UNION ALL ')})`;
}
