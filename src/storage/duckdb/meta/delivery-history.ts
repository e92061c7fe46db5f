import type { Micros } from '../../../signal/time.js';
import type {
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryStatus,
  DeliverySummary,
} from '../../delivery-store.js';
import type { Row, Value } from '../connection.js';
import { ATTEMPTS, WAITING } from './delivery-definitions.js';
import type { DeliveryMemory } from './delivery-memory.js';
import { listOf, numberOrNull, toWaitingRow, type DeliveryIds } from './delivery-rows.js';
import type { Waiting } from '../../delivery-state.js';
import type { MetaConnection } from './meta-connection.js';
import { readAnyText } from './tables.js';

/** A delivery of an organization, as those who ask for it find it. */
export interface FoundDelivery {
  readonly ids: DeliveryIds;
  readonly isActive: boolean;
  /** Null: at rest. */
  readonly waiting: Waiting | null;
}

/** How many are removed in one transaction: some milliseconds. */
const REMOVED_AT_ONCE = 10_000;

/** Attempts that are read at a time, each with 16 KiB of an answer: the schedule makes ten, and users ask for more without end. */
const ATTEMPTS_AT_ONCE = 200;

/** Some attempts of a delivery. */
export interface AttemptsPart {
  readonly attempts: readonly DeliveryAttempt[];
  /** The number of the last one, where more follow. */
  readonly last: number | null;
}

const ATTEMPT_COLUMNS = [
  'attempt_number',
  'attempted_at',
  'http_status_code',
  'response_body',
  'duration_ms',
  'error_message',
];

/** NUMBERS stands for the deliveries. */
const SUMMARIES = `SELECT d.number, d.id::VARCHAR AS id, t.type, epoch_us(d.created_at) AS created_at,
    w.delivery IS NOT NULL AS is_waiting, (w.attempted_at IS NOT NULL)::BIGINT AS under_way,
    coalesce(a.ended, 0) AS ended, coalesce(a.succeeded, false) AS succeeded
  FROM deliveries d
  JOIN taken_events t ON t.number = d.event
  LEFT JOIN waiting_deliveries w ON w.delivery = d.number
  LEFT JOIN (
    SELECT delivery, count(*) AS ended, bool_or(succeeded) AS succeeded
    FROM delivery_attempts WHERE delivery IN (NUMBERS) GROUP BY delivery
  ) a ON a.delivery = d.number
  WHERE d.number IN (NUMBERS)`;

/** What became of deliveries. */
export class DeliveryHistory {
  readonly #connection: MetaConnection;
  readonly #memory: DeliveryMemory;

  constructor(connection: MetaConnection, memory: DeliveryMemory) {
    this.#connection = connection;
    this.#memory = memory;
  }

  async list(
    slug: string,
    endpointId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null> {
    // Of one moment.
    return await this.#connection.transaction(async () => {
      const [endpoint] = await this.#connection.rows(
        'SELECT 1 AS found FROM webhook_endpoints e JOIN organizations o ON o.id = e.organization_id WHERE e.id = ?::UUID AND o.slug = ?',
        [endpointId, slug],
      );
      if (endpoint === undefined) return null;
      const ofEndpoint = 'FROM deliveries WHERE endpoint_id = ?::UUID';
      const [all] = await this.#connection.rows(`SELECT count(*) AS count ${ofEndpoint}`, [endpointId]);
      const rows = await this.#connection.rows(
        `SELECT number ${ofEndpoint} ORDER BY created_at DESC, number DESC LIMIT ? OFFSET ?`,
        [endpointId, page.limit, page.offset],
      );
      const numbers = rows.map(({ number }) => Number(number));
      const found = await this.#summaries(numbers);
      return { items: numbers.flatMap((number) => found.get(number) ?? []), count: Number(all?.count) };
    });
  }

  async read(slug: string, deliveryId: string): Promise<(DeliveryDetail & AttemptsPart) | null> {
    return await this.#connection.transaction(async () => {
      const found = await this.find(slug, deliveryId);
      if (found === null) return null;
      const { ids, waiting } = found;
      const { delivery } = ids;
      const summary = (await this.#summaries([delivery])).get(delivery);
      const [event] = await this.#connection.rows('SELECT body FROM taken_events WHERE number = ?', [
        ids.event,
      ]);
      if (summary === undefined || event === undefined) return null;
      return { ...summary, body: String(event.body), ...(await this.#attempts(delivery, waiting, 0)) };
    });
  }

  /** @param after the number of an attempt. @returns those that follow it; null where the delivery is gone */
  async readAttempts(slug: string, deliveryId: string, after: number): Promise<AttemptsPart | null> {
    return await this.#connection.transaction(async () => {
      const found = await this.find(slug, deliveryId);
      if (found === null) return null;
      return await this.#attempts(found.ids.delivery, found.waiting, after);
    });
  }

  async #attempts(delivery: number, waiting: Waiting | null, after: number): Promise<AttemptsPart> {
    const rows = await this.#connection.rows(
      ATTEMPTS.select(
        `WHERE delivery = ? AND attempt_number > ? ORDER BY attempt_number LIMIT ${ATTEMPTS_AT_ONCE}`,
        ATTEMPT_COLUMNS,
      ),
      [delivery, after],
    );
    const ended = rows.map(toAttempt);
    if (ended.length === ATTEMPTS_AT_ONCE)
      return { attempts: ended, last: ended.at(-1)?.attempt_number ?? null };
    return { attempts: [...ended, ...underWay(waiting)], last: null };
  }

  /** In the transaction under way. @returns null where no endpoint of the organization has such a delivery */
  async find(slug: string, deliveryId: string): Promise<FoundDelivery | null> {
    const [row] = await this.#connection.rows(
      `SELECT d.number, d.event, d.endpoint_id::VARCHAR AS endpoint_id, e.is_active
       FROM deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id JOIN organizations o ON o.id = e.organization_id
       WHERE d.id = ?::UUID AND o.slug = ?`,
      [deliveryId, slug],
    );
    if (row === undefined) return null;
    const delivery = Number(row.number);
    const [waiting] = await this.#connection.rows(WAITING.select('WHERE delivery = ?'), [delivery]);
    return {
      ids: { delivery, id: deliveryId, event: Number(row.event), endpointId: String(row.endpoint_id) },
      isActive: row.is_active === true,
      waiting: waiting === undefined ? null : toWaitingRow(waiting).waiting,
    };
  }

  /** In the transaction under way: attempts that have ended. */
  async countAttempts({ delivery }: DeliveryIds): Promise<number> {
    const [row] = await this.#connection.rows(
      'SELECT count(*) AS count FROM delivery_attempts WHERE delivery = ?',
      [delivery],
    );
    return Number(row?.count);
  }

  /** A part of those that were queued before. @returns how many; 0 when none is left */
  async removeSome(before: Micros): Promise<number> {
    return await this.#connection.transaction(async () => {
      const [found] = await this.#connection.rows(
        `SELECT count(*) AS count, max(number) AS last FROM (SELECT number FROM deliveries WHERE created_at < make_timestamp(?::BIGINT) ORDER BY number LIMIT ${REMOVED_AT_ONCE})`,
        [before],
      );
      const count = Number(found?.count);
      const those = `number <= ${Number(found?.last)} AND created_at < make_timestamp(?::BIGINT)`;
      if (count > 0) await this.#remove(those, [before]);
      else
        // Their deliveries are gone.
        await this.#connection.run('DELETE FROM taken_events WHERE taken_at < make_timestamp(?::BIGINT)', [
          before,
        ]);
      return count;
    });
  }

  /** In the transaction under way. */
  async removeOf(endpointId: string): Promise<void> {
    await this.#remove('endpoint_id = ?::UUID', [endpointId]);
  }

  /** @param condition of SQL over `deliveries` */
  async #remove(condition: string, values: readonly Value[]): Promise<void> {
    this.#memory.rowsOutdated();
    for (const table of ['waiting_deliveries', 'delivery_attempts'])
      await this.#connection.run(
        `DELETE FROM ${table} WHERE delivery IN (SELECT number FROM deliveries WHERE ${condition})`,
        values,
      );
    await this.#connection.run(`DELETE FROM deliveries WHERE ${condition}`, values);
  }

  async #summaries(numbers: readonly number[]): Promise<ReadonlyMap<number, DeliverySummary>> {
    const rows = await this.#connection.rows(SUMMARIES.replaceAll('NUMBERS', listOf(numbers)));
    return new Map(rows.map((row) => [Number(row.number), toSummary(row)]));
  }
}

function toSummary(row: Row): DeliverySummary {
  const atRest: DeliveryStatus = row.succeeded === true ? 'success' : 'failed';
  return {
    id: String(row.id),
    event_type: String(row.type),
    status: row.is_waiting === true ? 'pending' : atRest,
    created_at: Number(row.created_at),
    attempt_count: Number(row.ended) + Number(row.under_way),
  };
}

function toAttempt(row: Row): DeliveryAttempt {
  return {
    attempt_number: Number(row.attempt_number),
    http_status_code: numberOrNull(row.http_status_code),
    response_body: readAnyText(row.response_body) ?? '',
    duration_ms: numberOrNull(row.duration_ms),
    attempted_at: Number(row.attempted_at),
    error_message: readAnyText(row.error_message),
  };
}

function underWay(waiting: Waiting | null): readonly DeliveryAttempt[] {
  if (!waiting?.underWay) return [];
  return [
    {
      attempt_number: waiting.attempts,
      http_status_code: null,
      response_body: '',
      duration_ms: null,
      attempted_at: waiting.underWay.attemptedAt,
      error_message: null,
    },
  ];
}
