import { randomUUID } from 'node:crypto';
import { ConsumeError } from '../../../component/consume-error.js';
import type { Reach } from '../client/reach.js';
import type { ClickHouseOptions } from '../clickhouse-options.js';
import { MOST_DAYS_OF_AN_INSERT } from './days.js';
import { lostRows } from './lost-rows.js';
import { namesOf, type ClickHouseTable, type NewRow } from './table.js';

interface Waiting {
  readonly rows: readonly NewRow[];
  readonly bytes: number;
  readonly stored: () => void;
  readonly failed: (error: unknown) => void;
}

/** How much may wait for its insert, in all tables of a store. */
export class InsertRoom {
  readonly #most: number;
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Of rows that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws ConsumeError `overloaded` where there is no room */
  take(bytes: number): void {
    if (this.#bytes > this.#most) {
      const message = 'More is waiting for ClickHouse than extensions.clickhouse.max_queue_size allows.';
      throw new ConsumeError(message, { code: 'overloaded', retryable: true, retryAfterMs: 1000 });
    }
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Adds rows to a table in the order in which they are brought, those of several batches in one insert: at once where none is under way, and
 * otherwise with whatever comes until that one has ended. So the number of inserts does not grow with the number of batches.
 */
export class GroupedInserts {
  readonly table: ClickHouseTable;
  readonly #reach: Reach;
  readonly #names: readonly string[];
  readonly #groupRows: number;
  readonly #isReplicated: boolean;
  readonly #room: InsertRoom;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;

  constructor(
    reach: Reach,
    table: ClickHouseTable,
    { groupRows, isReplicated }: Pick<ClickHouseOptions, 'groupRows' | 'isReplicated'>,
    room: InsertRoom,
  ) {
    this.#reach = reach;
    this.table = table;
    this.#names = namesOf(table);
    this.#groupRows = groupRows;
    this.#isReplicated = isReplicated;
    this.#room = room;
  }

  /**
   * Resolves when all of them are stored.
   *
   * @param bytes about what they take
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

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    // Whoever comes in the same turn of the loop goes with the first.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#write(this.#nextGroup());
    // In the same turn in which nothing was found to wait: what comes later begins anew.
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
        // One of them has something that ClickHouse does not take, which must not be the others' trouble.
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
    const { connection } = this.#reach;
    const begun = performance.now();
    const values = rows.map((row) => this.#names.map((name) => row[name]));
    const isRepeated = await connection.insert(this.table.name, this.table.columns, values, randomUUID());
    // Replicas note a token and the rows in one step.
    if (!isRepeated || this.#isReplicated) return;
    const lost = await lostRows(connection, this.table, rows, begun);
    if (lost.length > 0) await this.#insertPart(lost);
  }
}

/** Rows in their order where they are of few days; otherwise those of some days, then those of the next ones. */
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
