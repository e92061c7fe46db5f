import type { Logger } from '../../../component/telemetry.js';
import { wordAt } from '../../../signal/checked.js';
import { LOGS } from '../../schema/log-tables.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { SCORES } from '../../schema/scores-table.js';
import type { Table } from '../../schema/table.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import type { CommitRange, IndexKind } from '../files/id-files.js';
import { int64At } from '../files/plain-rows.js';
import { narrowed, ofCommitsBetween, type OfCommits } from '../segments/commit-ranges.js';
import type { Read } from '../segments/read.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { IS_GEN_AI_EVENT } from './gen-ai-events.js';
import { IS_VERDICT } from './verdict-scores.js';
import { IdIndex, type AddId, type IdRows, type IndexSize, type RowsPart } from './id-index.js';

/** The indexes of ids. */
export interface Indexes {
  /** Ids of all traces. */
  readonly traces: IdIndex;
  /** Ids of traces with links, whether these traces are stored or not. */
  readonly links: IdIndex;
  /** Ids of the spans of truncated runs. */
  readonly truncatedSpans: IdIndex;
  /** Ids of traces with GenAI events among their log records, whether these traces are stored or not. */
  readonly withEvents: IdIndex;
  /** Ids of traces with scores that decide about their success, whether these traces are stored or not. */
  readonly verdicts: IdIndex;
}

/**
 * @param lastSeq the last commit in any file
 * @param size in place of `INDEX_SIZE`
 */
export async function openIndexes(
  connection: Connection,
  read: Read,
  parts: {
    readonly mainPath: string;
    readonly lastSeq: number;
    readonly logger: Logger;
    readonly size: IndexSize | undefined;
  },
): Promise<Indexes> {
  const store = await storeNumber(connection);
  const opened: IdIndex[] = [];
  const open = async (kind: IndexKind, rows: IdRows): Promise<IdIndex> => {
    const index = await IdIndex.open({ ...parts, kind, store, rows });
    opened.push(index);
    return index;
  };
  try {
    return {
      traces: await open('traces', new StoredIds(read, rowsOf(TRACES), false)),
      links: await open('links', new StoredIds(read, rowsOf(PROMPT_LINKS), false)),
      truncatedSpans: await open('spans', new StoredIds(read, truncatedSpans, true)),
      withEvents: await open('events', new StoredIds(read, rowsOf(LOGS, IS_GEN_AI_EVENT), false)),
      verdicts: await open('verdicts', new StoredIds(read, rowsOf(SCORES, IS_VERDICT), false)),
    };
  } catch (error) {
    for (const index of opened) await index.close();
    throw error;
  }
}

/**
 * One id for a span and its trace, because a span's own id does not identify its trace. Ids that collide, even on purpose, are
 * distinguished by the tables.
 *
 * @param found receives the four words
 */
export function idInTrace(
  traceWords: Uint32Array,
  traceAt: number,
  spanWords: Uint32Array,
  spanAt: number,
  found: Uint32Array,
): void {
  for (let i = 0; i < 4; i++) {
    // Rotated, because OTLP ids of spans contain a part of the trace's.
    const word = wordAt(traceWords, traceAt + i);
    found[i] = (((word << 7) | (word >>> 25)) ^ wordAt(spanWords, spanAt + i)) >>> 0;
  }
}

/** Identifies a store: the time when its cold file was created, in microseconds. */
async function storeNumber(connection: Connection): Promise<number> {
  const [row] = await connection.rows(
    'SELECT epoch_us(min(applied_at)) AS made FROM cold.main.schema_versions',
  );
  return Number(row?.made);
}

/** A relation with columns `tenant`, `trace_id`, `seq` and perhaps `span_id`, for a range of commits; null if it is empty. */
type Rows = (connection: Connection, capture: Capture, range: CommitRange) => Promise<string | null>;

/** The ids in some rows of the store. */
class StoredIds implements IdRows {
  readonly #read: Read;
  readonly #rows: Rows;
  readonly #areSpans: boolean;

  /** @param areSpans whether the ids are those of spans in their traces, or of traces */
  constructor(read: Read, rows: Rows, areSpans: boolean) {
    this.#read = read;
    this.#rows = rows;
    this.#areSpans = areSpans;
  }

  async scan(range: CommitRange, add: AddId): Promise<void> {
    await this.#read(async (connection, capture) => {
      const rows = await this.#rows(connection, capture, range);
      if (rows === null) return;
      const id = new Uint32Array(4);
      const columns = `tenant, seq, trace_id${this.#areSpans ? ', span_id' : ''}`;
      for await (const chunk of connection.chunks(`SELECT ${columns} FROM ${rows}`)) {
        const [tenants, seqs, traceIds] = [chunk.words(0, 4), chunk.words(1, 8), chunk.words(2, 16)];
        const spanIds = this.#areSpans ? chunk.words(3, 16) : null;
        for (let row = 0; row < chunk.rows; row++) {
          if (spanIds === null) add(wordAt(tenants, row), traceIds, row * 4, int64At(seqs, row));
          else {
            idInTrace(traceIds, row * 4, spanIds, row * 4, id);
            add(wordAt(tenants, row), id, 0, int64At(seqs, row));
          }
        }
      }
    });
  }

  async cut(range: CommitRange, ids: number): Promise<RowsPart[]> {
    return await this.#read(async (connection, capture) => {
      const rows = await this.#rows(connection, capture, range);
      if (rows === null) return [];
      const commits = `SELECT seq, count(*) AS ids FROM ${rows} GROUP BY seq`;
      const parts = `SELECT seq, ids, (sum(ids) OVER (ORDER BY seq) - 1) // ${ids} AS part FROM (${commits})`;
      const found = await connection.rows(
        `SELECT max(seq) AS seq, sum(ids)::BIGINT AS ids FROM (${parts}) GROUP BY part ORDER BY 1`,
      );
      return found.map((row) => ({ upTo: Number(row.seq), ids: Number(row.ids) }));
    });
  }
}

/** A table's rows. @param condition on the rows that count */
function rowsOf(table: Table, condition = 'TRUE'): Rows {
  return (_connection, capture, { after, upTo }) =>
    Promise.resolve(newest(capture, table, narrowed(ofCommitsBetween(after + 1, upTo), condition)));
}

/**
 * The spans of truncated runs, which have more spans than their headers follow. Each span has the commit of its newest version, or
 * the commit that truncated its run if that is later.
 */
async function truncatedSpans(
  connection: Connection,
  capture: Capture,
  { after, upTo }: CommitRange,
): Promise<string | null> {
  const closed = newest(capture, TRACES, 'closed_seq > 0');
  const [known] = await connection.rows(
    `SELECT min(first_seq) AS first, min(first_seq) FILTER (WHERE closed_seq > ${after} AND closed_seq <= ${upTo}) AS closing FROM ${closed}`,
  );
  if (typeof known?.first !== 'number') return null;
  const joined = (where: OfCommits, condition: string, seq: string): string =>
    `SELECT s.tenant, s.trace_id, s.span_id, ${seq} AS seq FROM ${newest(capture, SPANS, where)} s
     JOIN ${closed} c ON c.tenant = s.tenant AND c.trace_id = s.trace_id WHERE ${condition}`;
  const parts = [joined(ofCommitsBetween(after + 1, upTo), 's.seq >= c.closed_seq', 's.seq')];
  if (typeof known.closing === 'number') {
    const isClosing = `s.seq < c.closed_seq AND c.closed_seq > ${after} AND c.closed_seq <= ${upTo}`;
    parts.push(joined(ofCommitsBetween(known.closing, upTo - 1), isClosing, 'c.closed_seq'));
  }
  return `(${parts.join(' UNION ALL ')})`;
}
