import { randomUUID } from 'node:crypto';
import type { Connection } from '../client/connection.js';
import { placeOf } from '../client/connection.js';
import { quoted } from '../client/literals.js';
import { createTable, type ClickHouseTable, type TablePlace } from './table.js';

/** Metadata of the store: its identity and completed migrations. */
const STORE_FACTS: ClickHouseTable = {
  name: 'store_facts',
  columns: [
    { name: 'name', type: 'String' },
    { name: 'value', type: 'String' },
    /** Milliseconds since 1970, for people. */
    { name: 'noted_at', type: 'Int64' },
  ],
  family: 'Replacing',
  partition: 'tuple()',
  order: 'name',
};

/** Reads and writes metadata of a store, without a cache. The first value written under a name is kept. */
export class StoreFacts {
  readonly #connection: Connection;
  readonly #place: TablePlace;

  /** @param connection may have no database */
  constructor(connection: Connection, place: TablePlace) {
    this.#connection = connection;
    this.#place = place;
  }

  /** Creates the table if missing. */
  async create(): Promise<void> {
    await this.#connection.command(createTable(this.#place, STORE_FACTS));
  }

  /** All values by name; null if the store was never created. */
  async read(): Promise<ReadonlyMap<string, string> | null> {
    const there = await this.#connection.rows(
      `SELECT count() AS tables FROM system.tables WHERE database = ${quoted(this.#place.database)} AND name = ${quoted(STORE_FACTS.name)}`,
    );
    if (there[0]?.tables !== 1) return null;
    const rows = await this.#connection.rows(
      `SELECT name, argMin(value, noted_at) AS value FROM ${this.#table} GROUP BY name`,
    );
    return new Map(rows.map(({ name, value }) => [String(name), String(value)]));
  }

  /** @returns whether it is the only table of its database */
  async areAlone(): Promise<boolean> {
    const others = await this.#connection.rows(
      `SELECT count() AS tables FROM system.tables WHERE database = ${quoted(this.#place.database)} AND name <> ${quoted(STORE_FACTS.name)}`,
    );
    return others[0]?.tables === 0;
  }

  /** @param facts values by their names */
  async note(facts: Iterable<readonly [name: string, value: string]>): Promise<void> {
    const rows = Array.from(facts, ([name, value]) => ({ fields: { name, value, noted_at: Date.now() } }));
    await this.#connection.insert(this.#table, STORE_FACTS.columns, rows, randomUUID());
  }

  get #table(): string {
    return placeOf(this.#place.database, STORE_FACTS.name);
  }
}
