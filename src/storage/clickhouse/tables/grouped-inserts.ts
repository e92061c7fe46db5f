import { randomUUID } from 'node:crypto';
import { ConsumeError } from '../../../component/consume-error.js';
import type { StoreHandle } from '../client/store-handle.js';
import type { ClickHouseOptions } from '../clickhouse-options.js';
import { MOST_DAYS_OF_AN_INSERT } from './days.js';
import type { ClickHouseTable, NewRow } from './table.js';
import { invariant } from '../../../signal/checked.js';
import type { Reads } from '../client/reads.js';
import { named, quoted } from '../client/literals.js';

/** Tolerance for the server's uptime, which is in whole seconds. */
const SLACK_MS = 2000;

/**
 * Rows of an insert that were lost although its retry was dropped as a repeat: a server without replicas records an insert's token before
 * its rows (`MergeTreeSink`) and loses the rows if it is killed in between. Checked only if the server may have restarted since, so the
 * insert is no longer running. Rows of one day are stored together or not at all.
 *
 * @param table one with an `identity`
 * @param begun time of the first attempt, by `performance.now()`
 */
async function lostRows(
  reads: Pick<Reads, 'rows'>,
  { name, identity }: ClickHouseTable,
  rows: readonly NewRow[],
  begun: number,
): Promise<readonly NewRow[]> {
  const [server] = await reads.rows('SELECT uptime() AS seconds');
  if (Number(server?.seconds) * 1000 > performance.now() - begun + SLACK_MS) return [];
  const columns = ['day', ...invariant(identity, 'columns that tell rows apart')];
  const ofEachDay = new Map(rows.map((row) => [row.day, row]));
  const isOneOf = [...ofEachDay.values()].map(
    (row) => `(${columns.map((column) => `${named(column)} = ${literal(row[column])}`).join(' AND ')})`,
  );
  const stored = await reads.rows(`SELECT DISTINCT day FROM ${name} WHERE ${isOneOf.join(' OR ')}`);
  const days = new Set(stored.map((row) => Number(row.day)));
  return rows.filter(({ day }) => !days.has(day));
}

function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Number.isSafeInteger(value)) return String(value);
  throw new TypeError(`a column that tells rows apart has a ${typeof value}`);
}

interface Waiting {
  readonly rows: readonly NewRow[];
  readonly bytes: number;
  readonly stored: () => void;
  readonly failed: (error: unknown) => void;
}

/** The limit of queued bytes, for all tables of a store. */
export class InsertRoom {
  readonly #most: number;
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of queued rows. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws ConsumeError `overloaded` if the queue is full */
  take(bytes: number): void {
    if (this.#bytes > this.#most) {
      const message = 'The write queue is full (extensions.clickhouse.max_queue_size).';
      throw new ConsumeError(message, { code: 'overloaded', retryable: true, retryAfterMs: 1000 });
    }
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Inserts rows into a table in call order, with several batches per insert: immediately if no insert is running, otherwise together with
 * all rows that arrive until the running one ends. So the number of inserts does not grow with the number of batches.
 */
export class GroupedInserts {
  readonly table: ClickHouseTable;
  readonly #handle: StoreHandle;
  readonly #groupRows: number;
  readonly #isReplicated: boolean;
  readonly #room: InsertRoom;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;

  constructor(
    handle: StoreHandle,
    table: ClickHouseTable,
    { groupRows, isReplicated }: Pick<ClickHouseOptions, 'groupRows' | 'isReplicated'>,
    room: InsertRoom,
  ) {
    this.#handle = handle;
    this.table = table;
    this.#groupRows = groupRows;
    this.#isReplicated = isReplicated;
    this.#room = room;
  }

  /**
   * Resolves when all of them are stored.
   *
   * @param bytes their approximate size
   * @throws ConsumeError
   */
  async add(rows: readonly NewRow[], bytes: number): Promise<void> {
    if (rows.length === 0) return;
    this.#room.take(bytes);
    try {
      await new Promise<void>((stored, failed) => {
        this.#waiting.push({ rows, bytes, stored, failed });
        this.#running ??= this.#run();
      });
    } finally {
      this.#room.give(bytes);
    }
  }

  /** Resolves when no insert is running. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    // Groups all calls of this turn of the event loop.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#write(this.#nextGroup());
    // In the same turn in which the queue was found empty, so that a later call starts a new loop.
    this.#running = null;
  }

  #nextGroup(): readonly Waiting[] {
    let rows = 0;
    const end = this.#waiting.findIndex((waiting, at) => {
      rows += waiting.rows.length;
      return at > 0 && rows > this.#groupRows;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#insert(group.flatMap(({ rows }) => rows));
    } catch (error) {
      const isMistaken = error instanceof ConsumeError && error.code === 'internal_error';
      if (isMistaken && group.length > 1) {
        // One batch has a value that ClickHouse rejects; insert each separately so that the others succeed.
        for (const one of group) await this.#write([one]);
        return;
      }
      for (const { failed } of group) failed(error);
      return;
    }
    for (const { stored } of group) stored();
  }

  async #insert(rows: readonly NewRow[]): Promise<void> {
    for (const part of partsOf(rows)) await this.#insertPart(part);
  }

  async #insertPart(rows: readonly NewRow[]): Promise<void> {
    const { connection } = this.#handle;
    const begun = performance.now();
    const values = rows.map((fields) => ({ fields }));
    const isRepeated = await connection.insert(this.table.name, this.table.columns, values, randomUUID());
    // Replicated tables record token and rows atomically.
    if (!isRepeated || this.#isReplicated) return;
    const lost = await lostRows(connection, this.table, rows, begun);
    if (lost.length > 0) await this.#insertPart(lost);
  }
}

/** Rows in their order if they have few days; otherwise grouped by ranges of days. */
function partsOf(rows: readonly NewRow[]): (readonly NewRow[])[] {
  const days = [...new Set(rows.map(({ day }) => day))].sort((a, b) => a - b);
  if (days.length <= MOST_DAYS_OF_AN_INSERT) return [rows];
  const parts: (readonly NewRow[])[] = [];
  for (let at = 0; at < days.length; at += MOST_DAYS_OF_AN_INSERT) {
    const some = new Set(days.slice(at, at + MOST_DAYS_OF_AN_INSERT));
    parts.push(rows.filter(({ day }) => some.has(day)));
  }
  return parts;
}
