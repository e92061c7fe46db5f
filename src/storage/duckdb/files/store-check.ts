import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Micros } from '../../../signal/time.js';
import type { Connection } from './connection.js';
import { damageIn } from './damage.js';
import { literal } from './database.js';
import { examineLog } from './log-damage.js';
import { openOwnDatabase } from './own-database.js';
import type { Row } from './plain-rows.js';
import { bytesOf, isTorn, SegmentFiles } from './segment-files.js';
import { isLocked, StoreOpenError } from './store-open-error.js';

/** Rows of a table that cannot be read. Unknown values are null. */
export interface DamagedTable {
  readonly table: string;
  readonly rows: number;
  /** The numbers of their users. */
  readonly users: readonly number[] | null;
  readonly from: Micros | null;
  readonly to: Micros | null;
}

/** The result of checking a file of a store. */
export interface CheckedFile {
  readonly file: string;
  /** Why it cannot be read at all; null if it can. */
  readonly failure: string | null;
  readonly tables: readonly DamagedTable[];
}

/** Rows that are read at once in a table with damage: DuckDB unpacks so many together. */
const STEP = 2048;
const TIMES = ['started_at', 'timestamp', 'received_at', 'linked_at'];

/**
 * Reads every row of every file of a store, without changing anything.
 *
 * @param mainPath of a store that no process has open
 * @param reached called with the part that is read next
 * @throws StoreOpenError if another process has the store open, or if it does not exist
 */
export async function checkStore(
  mainPath: string,
  reached: (what: string) => void,
): Promise<readonly CheckedFile[]> {
  if (!existsSync(mainPath)) throw new StoreOpenError(`There is no store ${mainPath}.`);
  const names = new SegmentFiles(mainPath);
  const database = await openOwnDatabase(dirname(mainPath));
  try {
    const { connection } = database;
    const listed = new Set<string>();
    let lastMoved = 0;
    const look = (path: string, then?: (catalog: string) => Promise<void>): Promise<CheckedFile> =>
      checkFile(connection, path, { reached, then });
    const main = await look(mainPath, async (catalog) => {
      const rows = await connection.rows(`SELECT name FROM ${catalog}.main.store_files`);
      for (const { name } of rows) listed.add(join(dirname(mainPath), String(name)));
    });
    const checked = [main];
    if (existsSync(names.cold))
      checked.push(
        await look(names.cold, async (catalog) => {
          const [moved] = await connection.rows(`SELECT max(segment) AS number FROM ${catalog}.main.moved`);
          lastMoved = Number(moved?.number ?? 0);
        }),
      );
    for (const { number, path } of names.list())
      if (number > lastMoved && !isTorn(path)) checked.push(await look(path));
    const missing = [...listed].filter(
      (path) => !existsSync(path) && (names.numberOf(path) ?? Infinity) > lastMoved,
    );
    return [...checked, ...missing.map((file) => ({ file, failure: 'the file is missing', tables: [] }))];
  } finally {
    database.close();
  }
}

async function checkFile(
  connection: Connection,
  file: string,
  {
    reached,
    then,
  }: { reached: (what: string) => void; then?: ((catalog: string) => Promise<void>) | undefined },
): Promise<CheckedFile> {
  const log = examineLog(`${file}.wal`);
  if (log.kind === 'damaged')
    return { file, failure: `its log ${file}.wal is damaged at byte ${log.at}`, tables: [] };
  if (bytesOf(file) === 0) return { file, failure: 'the file is empty', tables: [] };
  try {
    await connection.run(`ATTACH ${literal(file)} AS checked (READ_ONLY)`);
  } catch (error) {
    if (isLocked(error)) throw inUse(file, error);
    return { file, failure: firstLine(error), tables: [] };
  }
  try {
    const tables: DamagedTable[] = [];
    const found = await connection.rows(
      "SELECT table_name FROM duckdb_tables() WHERE database_name = 'checked' ORDER BY table_name",
    );
    for (const { table_name } of found) {
      const table = String(table_name);
      reached(`${file}: ${table}`);
      const damaged = await checkTable(connection, table);
      if (damaged !== null) tables.push(damaged);
    }
    await then?.('checked').catch((error: unknown) => {
      if (damageIn(error) === null) throw error;
    });
    return { file, failure: null, tables };
  } catch (error) {
    return { file, failure: firstLine(error), tables: [] };
  } finally {
    await connection.run('DETACH checked');
  }
}

/** @returns null if every row can be read */
async function checkTable(connection: Connection, table: string): Promise<DamagedTable | null> {
  const from = `checked.main.${table}`;
  const read = async (where: string): Promise<boolean> =>
    (await readable(connection, `SELECT bit_xor(hash(t)) AS hash FROM ${from} t WHERE ${where}`)) !== null;
  if (await read('true')) return null;
  const [row] = await connection.rows(`SELECT max(rowid) AS last FROM ${from}`);
  const damaged: string[] = [];
  for (let first = 0; first <= Number(row?.last ?? 0); first += STEP) {
    const where = `rowid BETWEEN ${first} AND ${first + STEP - 1}`;
    if (!(await read(where))) damaged.push(where);
  }
  const rows = `${from} WHERE ${damaged.join(' OR ') || 'true'}`;
  const columns = new Set(
    (
      await connection.rows(
        `SELECT column_name FROM duckdb_columns() WHERE database_name = 'checked' AND table_name = ${literal(table)}`,
      )
    ).map(({ column_name }) => String(column_name)),
  );
  const [count] = await connection.rows(`SELECT count(*) AS rows FROM ${rows}`);
  const users = columns.has('tenant')
    ? await readable(connection, `SELECT array_to_string(list(DISTINCT tenant), ' ') AS users FROM ${rows}`)
    : null;
  const times = await timesOf(connection, table, rows, columns);
  return {
    table,
    rows: Number(count?.rows),
    users: typeof users?.users === 'string' ? users.users.split(' ').filter(Boolean).map(Number) : null,
    from: numberIn(times, 'first'),
    to: numberIn(times, 'last'),
  };
}

async function timesOf(
  connection: Connection,
  table: string,
  rows: string,
  columns: ReadonlySet<string>,
): Promise<Row | null> {
  const time = TIMES.find((name) => columns.has(name));
  const range = (column: string): string =>
    `epoch_us(min(${column})) AS first, epoch_us(max(${column})) AS last`;
  if (time !== undefined) return await readable(connection, `SELECT ${range(time)} FROM ${rows}`);
  if (table !== 'payloads') return null;
  // Payloads came in the commits of their spans.
  const seqs = `SELECT DISTINCT seq FROM ${rows}`;
  return await readable(
    connection,
    `SELECT ${range('started_at')} FROM checked.main.spans WHERE seq IN (${seqs})`,
  );
}

/** The first row; null if a damaged block prevents reading it. */
async function readable(connection: Connection, sql: string): Promise<Row | null> {
  try {
    return (await connection.rows(sql))[0] ?? null;
  } catch (error) {
    if (damageIn(error) === null) throw error;
    return null;
  }
}

function numberIn(row: Row | null, column: string): number | null {
  const value = row?.[column] ?? null;
  return value === null ? null : Number(value);
}

function inUse(file: string, cause: unknown): StoreOpenError {
  const owner = /\(PID (\d+)\)/.exec(cause instanceof Error ? cause.message : '')?.[1];
  const who = owner === undefined ? 'another process' : `process ${owner}`;
  return new StoreOpenError(
    `The store file ${file} is in use by ${who}. Stop the daemon, then check again.`,
    {
      cause,
    },
  );
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1).join('');
}
