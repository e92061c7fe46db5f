import type { Micros } from '../../../signal/time.js';
import type { DeliveryFigures } from '../../delivery-store.js';
import { MAX_HELD_MS, RESUME_SPREAD_MS } from '../../webhook-endpoints.js';
import type { Row } from '../connection.js';
import { ATTEMPTS, WAITING } from './delivery-definitions.js';
import { fromWaitingRow, listOf, numberOrNull, toWaitingRow, type WaitingRow } from './delivery-rows.js';
import type { DeliveryMemory } from './delivery-memory.js';
import { interrupted, isAtRest } from '../../delivery-state.js';
import type { MetaConnection } from './meta-connection.js';

/** A row as it is now, and whether the table does not have it yet. */
interface ChangedRow {
  readonly row: WaitingRow;
  readonly isNew: boolean;
}

/** What waits, and a set of rows at a time. Every method but `figures` is part of the transaction under way. */
export class DeliveryQueue {
  readonly #connection: MetaConnection;
  readonly #memory: DeliveryMemory;
  /** What the transaction under way has changed and not written: many a row that is queued is claimed in it, too. */
  readonly #changed = new Map<number, ChangedRow>();

  constructor(connection: MetaConnection, memory: DeliveryMemory) {
    this.#connection = connection;
    this.#memory = memory;
    connection.onRollback(() => {
      this.#changed.clear();
    });
  }

  /**
   * Writes what has changed. A row that was there is written anew, as DuckDB takes twice the time to change one in place: it
   * joins what is there with what is changed.
   */
  readonly #write = async (): Promise<void> => {
    const changed = [...this.#changed.values()];
    this.#changed.clear();
    const old = changed.flatMap(({ row, isNew }) => (isNew ? [] : row.delivery));
    if (old.length > 0)
      await this.#connection.run(`DELETE FROM waiting_deliveries WHERE delivery IN (${listOf(old)})`);
    const waiting = changed.filter(({ row }) => !isAtRest(row.waiting));
    this.#connection.insert(
      WAITING,
      waiting.map(({ row }) => fromWaitingRow(row)),
    );
  };

  /** @param condition of SQL over `waiting_deliveries` */
  async read(condition: string): Promise<readonly WaitingRow[]> {
    return (await this.#connection.rows(WAITING.select(`WHERE ${condition}`))).map(toWaitingRow);
  }

  /** Writes rows as they are now, except those of which nothing is left to be done. */
  save(rows: readonly WaitingRow[]): void {
    this.#change(rows, false);
  }

  /** Writes deliveries that wait for the first time. */
  add(rows: readonly WaitingRow[]): void {
    this.#change(rows, true);
  }

  /** Writes attempts that have ended: rows of `delivery_attempts`. */
  addAttempts(attempts: readonly Row[]): void {
    this.#connection.insert(ATTEMPTS, attempts);
  }

  /** Gives up attempts under way. @param condition of SQL says which @param reason as people may read it */
  async interrupt(condition: string, reason: string): Promise<void> {
    const rows = await this.read(`attempted_at IS NOT NULL AND ${condition}`);
    if (rows.length === 0) return;
    const active = await this.#connection.rows(
      'SELECT id::VARCHAR AS id FROM webhook_endpoints WHERE is_active',
    );
    const activeIds = new Set(active.map(({ id }) => id));
    this.addAttempts(
      rows.map(({ delivery, waiting }) => ({
        delivery,
        attempt_number: waiting.attempts,
        attempted_at: waiting.underWay?.attemptedAt ?? null,
        succeeded: false,
        response_body: '',
        error_message: reason,
      })),
    );
    this.save(
      rows.map((row) => ({ ...row, waiting: interrupted(row.waiting, activeIds.has(row.endpointId)) })),
    );
  }

  /** Nothing that was asked for waits for an endpoint that is paused; what the schedule has to do is held. */
  async forgetManual(endpointIds: readonly string[]): Promise<void> {
    this.#memory.rowsOutdated();
    const ofThem = `endpoint_id IN (${endpointIds.map(() => '?::UUID').join(', ')})`;
    await this.#connection.run(
      `UPDATE waiting_deliveries SET manual = 0 WHERE manual > 0 AND ${ofThem}`,
      endpointIds,
    );
    await this.#connection.run(
      `DELETE FROM waiting_deliveries WHERE due_at IS NULL AND attempted_at IS NULL AND ${ofThem}`,
      endpointIds,
    );
  }

  /**
   * Lets what was held go on: what waited for too long is given up, and what is due soon is spread, so that a receiver
   * that comes back does not get everything at once. What is under way goes on as it is.
   */
  async resume(endpointId: string, now: Micros): Promise<void> {
    this.#memory.rowsOutdated();
    const held = 'due_at IS NOT NULL AND attempted_at IS NULL AND endpoint_id = ?::UUID';
    await this.#connection.run(
      `DELETE FROM waiting_deliveries WHERE ${held} AND delivery IN (
         SELECT number FROM deliveries WHERE endpoint_id = ?::UUID AND created_at < make_timestamp(${BigInt(now - MAX_HELD_MS * 1000)}))`,
      [endpointId, endpointId],
    );
    const spread = RESUME_SPREAD_MS * 1000;
    await this.#connection.run(
      `UPDATE waiting_deliveries SET due_at = greatest(due_at, make_timestamp(${BigInt(now)} + place * ${spread} // places)) FROM (
         SELECT delivery AS number, row_number() OVER (ORDER BY due_at, delivery) - 1 AS place, count(*) OVER () AS places
         FROM waiting_deliveries WHERE ${held} AND due_at < make_timestamp(${BigInt(now + spread)})) AS soon
       WHERE delivery = number`,
      [endpointId],
    );
  }

  #change(rows: readonly WaitingRow[], areNew: boolean): void {
    if (rows.length === 0) return;
    this.#memory.put(rows);
    for (const row of rows) {
      const isNew = this.#changed.get(row.delivery)?.isNew ?? areNew;
      this.#changed.set(row.delivery, { row, isNew });
    }
    this.#connection.writeLater(this.#write);
  }

  /** Between two transactions. */
  async figures(now: Micros): Promise<DeliveryFigures> {
    const [row] = await this.#connection.read(
      'SELECT count(*) AS pending, min(epoch_us(w.due_at)) FILTER (e.is_active AND w.attempted_at IS NULL) AS oldest FROM waiting_deliveries w JOIN webhook_endpoints e ON e.id = w.endpoint_id',
    );
    const oldest = numberOrNull(row?.oldest) ?? now;
    return { pending: Number(row?.pending), overdueMs: Math.max(0, (now - oldest) / 1000) };
  }
}
