import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Transaction, Kysely } from 'kysely';
import { PRIVATE_FILE } from '../../config/private-path.js';
import type {
  ControlFile,
  ControlTransfer,
  ExportedRow,
  TransferBase,
  WrittenFile,
} from '../contracts/transfer.js';
import type { ControlDatabase } from './control-database.js';
import { insertBase } from './insert-base.js';
import type { Tables } from './tables.js';
import { RUN_KINDS } from '../../signal/span.js';

/**
 * Which tables are exported, in import order: rows come after the rows that they refer to. Of `counters`, all but {@link OWN_COUNTERS}
 * are exported.
 */
const TRANSFERRED = {
  counters: true,
  users: true,
  api_keys: true,
  organizations: true,
  members: true,
  prompts: true,
  prompt_removals: true,
  prompt_labels: true,
  prompt_label_moves: true,
  webhook_endpoints: true,
  events: true,
  event_readers: true,
  event_wants: true,
  delivery_events: true,
  deliveries: true,
  waiting_deliveries: true,
  delivery_attempts: true,
  views: true,
  logins: true,
  login_links: true,
  alert_rules: true,
  alert_removals: true,
  alert_firings: true,
  alert_evidence: true,
  alert_notices: true,
  alert_beats: true,
  alert_secrets: true,
  audit_entries: true,
  // Belong to processes.
  leases: false,
  terms: false,
  // Belongs to this store, and to its positions in other stores.
  identity: false,
  event_marks: false,
  // Belong to one telemetry store: the data to keep is exported in that store's tables.
  writes: false,
  usage_months: false,
  usage_days: false,
  numbered_agents: false,
  named_batches: false,
} as const satisfies Record<keyof Tables, boolean>;

/** Counters of tables that are not exported. */
const OWN_COUNTERS: readonly string[] = ['write', 'ticket', 'agent'];

const TRANSFERRED_TABLES = (Object.keys(TRANSFERRED) as (keyof Tables)[]).filter(
  (table) => TRANSFERRED[table],
);

type ReadBase = (db: Kysely<Tables>, store: string) => Promise<readonly ExportedRow[]>;

/** Reads the data that `insertBase` imports, as rows of export tables. @param store the identity of the telemetry store */
const BASE_READS: Readonly<Record<keyof TransferBase, ReadBase>> = {
  agents: async (db, store) => {
    const rows = await db
      .selectFrom('numbered_agents')
      .select(['tenant', 'number', 'id', 'name', 'created_at'])
      .where('store', '=', store)
      .orderBy('number')
      .execute();
    // A name has one row here, for any kind of runs.
    return rows.map(({ number, ...row }) => ({ ...row, agent_no: number, kind: RUN_KINDS.indexOf('agent') }));
  },
  usage: async (db, store) => {
    const months = await db
      .selectFrom('usage_months')
      .select(['tenant', 'month as period', 'settled as items'])
      .where('store', '=', store)
      .where('settled', '>', 0)
      .execute();
    const days = await db
      .selectFrom('usage_days')
      .select(['tenant', 'day', 'settled as items'])
      .where('store', '=', store)
      .where('settled', '>', 0)
      .execute();
    return [...months, ...days.map(({ day, ...row }) => ({ ...row, period: -day }))];
  },
  batches: async (db, store) => {
    const rows = await db
      .selectFrom('named_batches')
      .select(['tenant', 'name', 'written_at', 'refused'])
      .where('store', '=', store)
      .where('written_at', 'is not', null)
      .execute();
    return rows.map(({ tenant, name, written_at, refused }) => ({
      tenant,
      batch: name,
      received_at: written_at,
      refused: refused === '' ? null : refused,
    }));
  },
};

type Row = Readonly<Record<string, unknown>>;

/** Rows per insert: databases limit the parameters of a statement. */
const ROWS_AT_ONCE = 200;
const ENDING = '.jsonl';

/** `ControlTransfer` over the raw tables: the exporting and the importing program must have the same migrations. */
export class TransferRows implements ControlTransfer {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async export(directory: string): Promise<readonly WrittenFile[]> {
    return await this.#database.snapshot(directory, async (rowsOf) => {
      const files: WrittenFile[] = [];
      for (const table of TRANSFERRED_TABLES) {
        const name = `${table}${ENDING}`;
        files.push({ name, rows: await writeRows(join(directory, name), kept(table, rowsOf(table))) });
      }
      return files;
    });
  }

  async copy(path: string): Promise<Readonly<Record<string, number>>> {
    return await this.#database.copy(path);
  }

  async holds(): Promise<string | null> {
    return await this.#database.read(async (db) => {
      for (const table of ['users', 'organizations', 'events'] as const) {
        const found = await db.selectFrom(table).select('id').limit(1).executeTakeFirst();
        if (found !== undefined) return table;
      }
      return null;
    });
  }

  async reserve(files: readonly ControlFile[]): Promise<void> {
    const counters = files.find((file) => tableOf(file) === 'counters');
    if (counters === undefined) throw new Error('counters.jsonl is missing in the export');
    await this.#database.transaction(async (tx) => {
      await raiseCounters(tx, counters);
    });
  }

  async exportBase(store: string, table: keyof TransferBase): Promise<readonly ExportedRow[]> {
    return await this.#database.read((db) => BASE_READS[table](db, store));
  }

  async importBase(store: string, base: TransferBase): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await insertBase(tx, this.#database.dialect, store, base);
    });
  }

  async import(files: readonly ControlFile[]): Promise<void> {
    const byTable = new Map(files.map((file) => [tableOf(file), file]));
    const columns = await this.#database.read(async (db) => {
      const tables = await db.introspection.getTables();
      return new Map(tables.map(({ name, columns }) => [name, new Set(columns.map((one) => one.name))]));
    });
    await this.#database.transaction(async (tx) => {
      for (const table of TRANSFERRED_TABLES) {
        const file = byTable.get(table);
        if (file === undefined) throw new Error(`${table}${ENDING} is missing in the export`);
        if (table === 'counters') await raiseCounters(tx, file);
        else await insertRows(tx, table, file, columns.get(table) ?? new Set());
      }
    });
  }
}

function tableOf({ name }: WrittenFile): string {
  return name.slice(0, -ENDING.length);
}

async function* kept(
  table: keyof Tables,
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for await (const page of pages)
    yield table === 'counters' ? page.filter(({ name }) => !OWN_COUNTERS.includes(String(name))) : page;
}

async function writeRows(path: string, pages: AsyncIterable<readonly Row[]>): Promise<number> {
  const file = await open(path, 'wx', PRIVATE_FILE);
  let rows = 0;
  try {
    for await (const page of pages) {
      rows += page.length;
      await file.appendFile(page.map((row) => `${JSON.stringify(row)}\n`).join(''));
    }
  } finally {
    await file.close();
  }
  return rows;
}

async function insertRows(
  tx: Transaction<Tables>,
  table: keyof Tables,
  file: ControlFile,
  columns: ReadonlySet<string>,
): Promise<void> {
  let waiting: Row[] = [];
  const insert = async (): Promise<void> => {
    if (waiting.length === 0) return;
    // The column names have been checked against the table, and the database checks the values.
    await tx.insertInto(table).values(waiting).execute();
    waiting = [];
  };
  let rows = 0;
  for await (const row of readRows(file)) {
    rows++;
    const names = Object.keys(row);
    if (names.length !== columns.size || !names.every((name) => columns.has(name)))
      throw new Error(
        `${file.path}, line ${rows}: its columns differ from those of this store (${[...columns].join(', ')}). Import with the version of Jackdaw that created the export.`,
      );
    waiting.push(row);
    if (waiting.length === ROWS_AT_ONCE) await insert();
  }
  await insert();
  if (rows !== file.rows) throw new Error(`${file.path} has ${rows} rows but should have ${file.rows}`);
}

async function raiseCounters(tx: Transaction<Tables>, file: ControlFile): Promise<void> {
  for await (const { name, last } of readRows(file)) {
    if (typeof name !== 'string' || !Number.isSafeInteger(last) || OWN_COUNTERS.includes(name))
      throw new Error(`${file.path}: a line is not a counter`);
    await tx
      .updateTable('counters')
      .set({ last: last as number })
      .where('name', '=', name)
      .where('last', '<', last as number)
      .execute();
  }
}

/** @throws Error that names the invalid line */
async function* readRows({ path }: ControlFile): AsyncGenerator<Row> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  let number = 0;
  for await (const line of lines) {
    number++;
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch (cause) {
      throw new Error(`${path}, line ${number}: it is not valid JSON`, { cause });
    }
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      throw new Error(`${path}, line ${number}: it is not a row`);
    yield row as Row;
  }
}
