import type { Row } from '../connection.js';
import { WAITING } from './delivery-definitions.js';
import { toWaitingRow, type WaitingRow } from './delivery-rows.js';
import { isAtRest } from '../../delivery-state.js';
import type { MetaConnection } from './meta-connection.js';
import { byRanges } from './number-ranges.js';

/** Of a longer queue the database is asked. */
const MOST_ROWS = 5000;
/** After so many questions it is looked whether the queue is shorter again. */
const PATIENCE = 50;
const MOST_EVENT_BYTES = 8 * 1024 * 1024;

/** What of an event is sent. */
export interface TakenEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/**
 * What waits and what was taken last, as far as it is known without asking the database: under load each question takes some
 * 30 ms, and all transactions of the main file wait for it. Every method is part of the transaction under way, and sees what
 * it has written.
 */
export class DeliveryMemory {
  readonly #connection: MetaConnection;
  /** All rows of `waiting_deliveries`; null: not known. */
  #rows: Map<number, WaitingRow> | null = null;
  #patience = 0;
  /** Whether the transaction under way has changed it. */
  #isChanged = false;
  /** Whether it does not know all that the transaction under way has changed: until that ends the database is asked. */
  #isOutdated = false;
  /** By number, those taken last behind the others. */
  readonly #events = new Map<number, TakenEvent>();
  #eventBytes = 0;

  constructor(connection: MetaConnection) {
    this.#connection = connection;
    connection.onRollback(() => {
      if (this.#isChanged) this.#rows = null;
      this.#isChanged = false;
      this.#isOutdated = false;
    });
  }

  /** All that waits; null where the database is to be asked. */
  async rows(): Promise<ReadonlyMap<number, WaitingRow> | null> {
    if (this.#isOutdated) return null;
    if (this.#rows === null && --this.#patience < 0) await this.#load();
    return this.#rows;
  }

  /** Follows what is written of rows: those at rest have none. */
  put(rows: readonly WaitingRow[]): void {
    if (rows.length === 0) return;
    this.#changing();
    if (this.#rows === null) return;
    for (const row of rows) {
      if (isAtRest(row.waiting)) this.#rows.delete(row.delivery);
      else this.#rows.set(row.delivery, row);
    }
    if (this.#rows.size > MOST_ROWS) this.#giveUp();
  }

  /** Rows are changed in the database alone. */
  rowsOutdated(): void {
    this.endpointsOutdated();
    this.#rows = null;
    this.#patience = 0;
  }

  /** Endpoints are changed, which elsewhere is known after the commit. */
  endpointsOutdated(): void {
    this.#changing();
    this.#isOutdated = true;
  }

  /** Keeps an event that was taken. */
  keep(number: number, event: TakenEvent): void {
    this.#events.set(number, event);
    this.#eventBytes += event.body.length;
    for (const [first, { body }] of this.#events) {
      if (this.#eventBytes <= MOST_EVENT_BYTES) return;
      this.#events.delete(first);
      this.#eventBytes -= body.length;
    }
  }

  /** Events by number. Those that are not there any more are left out. */
  async events(numbers: readonly number[]): Promise<ReadonlyMap<number, TakenEvent>> {
    const missing = numbers.filter((number) => !this.#events.has(number));
    const read = missing.length === 0 ? [] : await this.#connection.rows(eventRows(missing));
    const found = new Map(read.map((row) => [Number(row.number), toTakenEvent(row)]));
    for (const number of numbers) {
      const kept = this.#events.get(number);
      if (kept) found.set(number, kept);
    }
    return found;
  }

  async #load(): Promise<void> {
    const rows = await this.#connection.rows(WAITING.select(`LIMIT ${MOST_ROWS + 1}`));
    if (rows.length > MOST_ROWS) this.#giveUp();
    else this.#rows = new Map(rows.map(toWaitingRow).map((row) => [row.delivery, row]));
  }

  #giveUp(): void {
    this.#rows = null;
    this.#patience = PATIENCE;
  }

  #changing(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    this.#connection.afterCommit(() => {
      this.#isChanged = false;
      this.#isOutdated = false;
    });
  }
}

function eventRows(numbers: readonly number[]): string {
  return byRanges(
    numbers,
    (condition) => `SELECT number, id::VARCHAR AS id, type, body FROM taken_events WHERE ${condition}`,
  );
}

function toTakenEvent(row: Row): TakenEvent {
  return { id: String(row.id), type: String(row.type), body: String(row.body) };
}
