import { itemAt, wordAt } from '../../../signal/checked.js';
import { LOGS } from '../../schema/log-tables.js';
import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import { hotPartsOf } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { LogSearch } from './log-condition.js';
import { KEY_COLUMNS, KEY_WIDTH, keyAt, type LogKey } from './log-keys.js';
import type { KeyList } from './page-of-keys.js';

/** How many of the newest records are read with their number, unless more are requested. */
const FIRST_RECORDS = 2000;

/** The matches of a search in the hot segments, which are scanned. */
export class HotKeys implements KeyList {
  readonly count: number;
  readonly newest: number;
  readonly oldest: number;
  readonly #connection: Connection;
  readonly #found: Found;
  /** The newest of them, as far as they were read. */
  readonly #first: readonly LogKey[];

  private constructor(connection: Connection, found: Found, stats: Stats, first: readonly LogKey[]) {
    this.#connection = connection;
    this.#found = found;
    this.#first = first;
    this.count = stats.count;
    this.newest = stats.newest;
    this.oldest = stats.oldest;
  }

  /** @param records how many of them may be requested, counted from the newest */
  static async find(
    connection: Connection,
    capture: Capture,
    { condition }: LogSearch,
    records: number,
  ): Promise<HotKeys> {
    const parts = hotPartsOf(capture, LOGS, condition.sql);
    const found = { sql: parts.join(' UNION ALL '), values: condition.values };
    if (parts.length === 0) return new HotKeys(connection, found, NONE, []);
    const limit = records > FIRST_RECORDS ? 1 : records;
    const sql = `SELECT ${KEY_COLUMNS}, (count(*) OVER ())::UINTEGER AS found, epoch_us(min(timestamp) OVER ()) AS oldest FROM (${found.sql}) ORDER BY timestamp DESC, id DESC LIMIT ${limit}`;
    let stats = NONE;
    const first: LogKey[] = [];
    for await (const chunk of connection.wholeChunks(sql, found.values)) {
      for (let row = 0; row < chunk.rows; row++) first.push(keyAt(chunk, row));
      const count = wordAt(chunk.words(KEY_WIDTH, 4), 0);
      const oldest = int64At(chunk.words(KEY_WIDTH + 1, 8), 0);
      stats = { count, newest: first[0]?.timestamp ?? oldest, oldest };
    }
    return new HotKeys(connection, found, stats, first);
  }

  /** The keys at some places, 0 for the newest. */
  async at(places: readonly number[]): Promise<LogKey[]> {
    const first = places.flatMap((place) => this.#first[place] ?? []);
    if (first.length === places.length) return first;
    const { sql, values } = this.#found;
    const inOrder = `SELECT ${KEY_COLUMNS}, (row_number() OVER (ORDER BY timestamp DESC, id DESC) - 1)::UINTEGER AS place FROM (${sql})`;
    const keys: LogKey[] = [];
    for await (const chunk of this.#connection.wholeChunks(
      `SELECT * FROM (${inOrder}) WHERE place BETWEEN ${itemAt(places, 0)} AND ${itemAt(places, places.length - 1)} AND place IN (${places.join(', ')}) ORDER BY place`,
      values,
    )) {
      for (let row = 0; row < chunk.rows; row++) keys.push(keyAt(chunk, row));
    }
    return keys;
  }
}

/** Records in SQL. */
interface Found {
  readonly sql: string;
  readonly values: LogSearch['condition']['values'];
}

type Stats = Pick<KeyList, 'count' | 'newest' | 'oldest'>;

const NONE: Stats = { count: 0, newest: 0, oldest: 0 };
