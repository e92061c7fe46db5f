import type { Micros } from '../../../signal/time.js';
import type {
  AlertNotification,
  DueNotification,
  DueRequest,
  NotificationChannel,
  NotificationResult,
  NotificationStatus,
  SkipRequest,
} from '../../alert-notices.js';
import type { AlertChannel, AlertRule, Firing } from '../../alert-store.js';
import type { Row } from '../connection.js';
import { ALERT_EVENTS, ALERT_NOTICES } from './alert-definitions.js';
import { textOrNull, toAttempts } from './alert-rows.js';
import { isNotHeld, noticeTurns, toTurns } from './alert-turns.js';
import { listOf } from './delivery-rows.js';
import type { MetaConnection } from './meta-connection.js';
import { byRanges } from './number-ranges.js';
import { readAnyText } from './tables.js';
import { lastNumber } from './unusable-definition.js';

const CHANNELS: Readonly<Record<AlertChannel, readonly NotificationChannel[]>> = {
  email: ['email'],
  webhook: ['webhook'],
  both: ['email', 'webhook'],
};

const DUE_COLUMNS = [
  'number',
  'event',
  'alert_id',
  'user_id',
  'channel',
  'webhook_url',
  'due_at',
  'attempts',
];

/** The ids that a parameter names, with commas between them. */
const UUIDS_OF_TEXT = "(SELECT unnest(string_split(?, ','))::UUID)";

/** What is told of firings, and how far that has come. */
export class AlertNotices {
  readonly #connection: MetaConnection;
  #nextNumber = 1;

  constructor(connection: MetaConnection) {
    this.#connection = connection;
  }

  /** Numbers go on behind those that are there. */
  async load(): Promise<void> {
    const [row] = await this.#connection.read(`SELECT ${lastNumber(ALERT_NOTICES)} AS last`);
    this.#nextNumber = Number(row?.last) + 1;
  }

  /** In the transaction that writes firings: one for each channel of each, due at once. */
  async add(
    fired: readonly { readonly rule: AlertRule; readonly event: number; readonly firing: Firing }[],
  ): Promise<void> {
    const rows = fired.flatMap(({ rule: { alert, userId }, event, firing }) =>
      CHANNELS[alert.channel].map((channel) => ({
        number: this.#nextNumber++,
        event,
        alert_id: alert.id,
        user_id: userId,
        channel,
        webhook_url: channel === 'webhook' ? alert.webhook_url : null,
        status: 'pending',
        detail: null,
        due_at: firing.firedAt,
        attempts: 0,
        history: '[]',
      })),
    );
    await this.#connection.run(...ALERT_NOTICES.insertAll(rows));
  }

  /** In the transaction under way: those of firings, by their numbers. */
  async of(events: readonly number[]): Promise<ReadonlyMap<number, readonly AlertNotification[]>> {
    const rows = await this.#connection.rows(
      ALERT_NOTICES.select(`WHERE event IN (${listOf(events)}) ORDER BY number`),
    );
    const found = new Map<number, AlertNotification[]>();
    for (const row of rows) {
      const event = Number(row.event);
      found.set(event, [...(found.get(event) ?? []), toNotification(row)]);
    }
    return found;
  }

  async due(
    request: DueRequest,
  ): Promise<{ readonly items: readonly DueNotification[]; readonly nextDueAt: Micros | null }> {
    // Of one moment: an alert may be deleted in between.
    return await this.#connection.transaction(async () => {
      const { taken, nextDueAt } = toTurns(await this.#connection.rows(...noticeTurns(request)), request);
      return { items: taken.length === 0 ? [] : await this.#read(taken), nextDueAt };
    });
  }

  async skip({ now, channel, detail, userIds, held, most }: SkipRequest): Promise<number> {
    return await this.#connection.transaction(async () => {
      const ofUsers = userIds === null ? '' : `AND attempts = 0 AND user_id IN ${UUIDS_OF_TEXT}`;
      const rows = await this.#connection.rows(
        `SELECT number FROM alert_notices WHERE due_at <= make_timestamp(?::BIGINT) AND channel = ? ${ofUsers}
           AND ${isNotHeld(held)} ORDER BY due_at, number LIMIT ${BigInt(most)}`,
        [now, channel, ...(userIds === null ? [] : [userIds.join()])],
      );
      const skipped = rows.map(({ number }) => ({
        number: Number(number),
        ...{ status: 'skipped', detail, due_at: null },
      }));
      if (skipped.length > 0) await this.#connection.run(...ALERT_NOTICES.updateAll('number', skipped));
      return skipped.length;
    });
  }

  /** What was noted before is not noted again, so that results may come twice. */
  async finish(results: readonly NotificationResult[]): Promise<void> {
    if (results.length === 0) return;
    await this.#connection.shared(async () => {
      const numbers = listOf(results.map(({ number }) => number));
      const found = await this.#connection.rows(
        ALERT_NOTICES.select(`WHERE status = 'pending' AND number IN (${numbers})`, [
          'number',
          'attempts',
          'history',
        ]),
      );
      const pending = new Map(found.map((row) => [Number(row.number), row]));
      const changed: Row[] = [];
      for (const result of results) {
        const row = pending.get(result.number);
        if (row === undefined || isNoted(row, result)) continue;
        pending.delete(result.number);
        changed.push(finished(row, result));
      }
      if (changed.length > 0) await this.#connection.run(...ALERT_NOTICES.updateAll('number', changed));
    });
  }

  /** In the transaction that removes old firings. */
  async removeBefore(time: Micros): Promise<void> {
    await this.#connection.run(
      'DELETE FROM alert_notices WHERE event IN (SELECT number FROM alert_events WHERE fired_at < make_timestamp(?::BIGINT))',
      [time],
    );
  }

  /** In the transaction that deletes an alert. */
  async removeOf(alertId: string): Promise<void> {
    await this.#connection.run('DELETE FROM alert_notices WHERE alert_id = ?::UUID', [alertId]);
  }

  /** Notices by number, the longest overdue first. */
  async #read(numbers: readonly number[]): Promise<readonly DueNotification[]> {
    const notices = byRanges(numbers, (condition) =>
      ALERT_NOTICES.select(`WHERE ${condition} AND number IN (${listOf(numbers)})`, DUE_COLUMNS),
    );
    const rows = await this.#connection.rows(
      `SELECT n.*, u.email FROM (${notices}) n JOIN users u ON u.id = n.user_id::UUID ORDER BY n.due_at, n.number`,
    );
    const events = await this.#events(rows.map(({ event }) => Number(event)));
    return rows.flatMap((row) => {
      const event = events.get(Number(row.event));
      return event === undefined ? [] : toDue(row, event);
    });
  }

  /** Firings by number, at least those: their ids and what is told of them. */
  async #events(numbers: readonly number[]): Promise<ReadonlyMap<number, Row>> {
    if (numbers.length === 0) return new Map();
    const rows = await this.#connection.rows(
      byRanges(numbers, (condition) => ALERT_EVENTS.select(`WHERE ${condition}`, ['number', 'id', 'body'])),
    );
    return new Map(rows.map((row) => [Number(row.number), row]));
  }
}

function isNoted(row: Row, { attempt }: NotificationResult): boolean {
  return attempt !== null && attempt.attempt_number <= Number(row.attempts);
}

function finished(row: Row, { number, status, detail, attempt, retryAt }: NotificationResult): Row {
  const attempts = [...toAttempts(row), ...(attempt === null ? [] : [attempt])];
  return {
    number,
    status,
    detail,
    due_at: status === 'pending' ? retryAt : null,
    attempts: attempts.length,
    history: JSON.stringify(attempts),
  };
}

function toNotification(row: Row): AlertNotification {
  return {
    channel: String(row.channel) as NotificationChannel,
    status: String(row.status) as NotificationStatus,
    detail: readAnyText(row.detail),
    attempts: toAttempts(row),
  };
}

function toDue(row: Row, event: Row): DueNotification {
  return {
    number: Number(row.number),
    channel: String(row.channel) as NotificationChannel,
    alertId: String(row.alert_id),
    eventId: String(event.id),
    userId: String(row.user_id),
    email: String(row.email),
    webhookUrl: textOrNull(row.webhook_url),
    body: String(event.body),
    attempts: Number(row.attempts),
  };
}
