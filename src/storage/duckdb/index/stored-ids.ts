import { wordAt } from '../../../signal/checked.js';
import type { Table } from '../../schema/table.js';
import { narrowed, ofCommitsBetween } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import type { Read } from '../segments/read.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { AddId, IdRows } from './id-rows.js';
import type { CommitRange } from '../files/run-names.js';

/** The ids of the traces that a table's rows, or some of them, are about. */
export class StoredIds implements IdRows {
  readonly #read: Read;
  readonly #table: Table;
  readonly #condition: string;

  /** @param condition on the rows that count */
  constructor(read: Read, table: Table, condition = 'TRUE') {
    this.#read = read;
    this.#table = table;
    this.#condition = condition;
  }

  async scan(range: CommitRange, add: AddId): Promise<void> {
    await this.#read(async (connection, capture) => {
      const rows = `SELECT tenant, trace_id, seq FROM ${this.#rowsOf(capture, range)}`;
      for await (const chunk of connection.chunks(rows)) {
        const tenants = chunk.words(0, 4);
        const words = chunk.words(1, 16);
        const seqs = chunk.words(2, 8);
        for (let row = 0; row < chunk.rows; row++)
          add(wordAt(tenants, row), words, row * 4, int64At(seqs, row));
      }
    });
  }

  async count(range: CommitRange): Promise<number> {
    return await this.#read(async (connection, capture) => {
      const [row] = await connection.rows(`SELECT count(*) AS ids FROM ${this.#rowsOf(capture, range)}`);
      return Number(row?.ids);
    });
  }

  async cut(range: CommitRange, ids: number): Promise<number[]> {
    return await this.#read(async (connection, capture) => {
      const commits = `SELECT seq, count(*) AS ids FROM ${this.#rowsOf(capture, range)} GROUP BY seq`;
      const parts = `SELECT seq, (sum(ids) OVER (ORDER BY seq) - 1) // ${ids} AS part FROM (${commits})`;
      const rows = await connection.rows(`SELECT max(seq) AS seq FROM (${parts}) GROUP BY part ORDER BY seq`);
      return rows.map((row) => Number(row.seq));
    });
  }

  #rowsOf(capture: Capture, { after, upTo }: CommitRange): string {
    return newest(capture, this.#table, narrowed(ofCommitsBetween(after + 1, upTo), this.#condition));
  }
}

/** Identifies a store: the time when its cold file was created, in microseconds. */
export async function storeNumber(connection: Connection): Promise<number> {
  const [row] = await connection.rows(
    'SELECT epoch_us(min(applied_at)) AS made FROM cold.main.schema_versions',
  );
  return Number(row?.made);
}
