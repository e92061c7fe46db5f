import type { Kysely, Transaction } from 'kysely';
import { invariant } from '../../signal/checked.js';
import type { Micros } from '../../signal/time.js';
import type {
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryStatus,
  DeliverySummary,
} from '../contracts/deliveries.js';
import type { ControlDatabase } from './control-database.js';
import type { Dialect } from './dialect.js';
import type { Tables } from './tables.js';

/** Number of deliveries removed per transaction. */
const REMOVED_AT_ONCE = 2000;
/**
 * Number of attempts read at a time, each with 16 KiB of a response: the schedule makes ten, but users may request any number.
 */
const ATTEMPTS_AT_ONCE = 200;

export type Database = Kysely<Tables> | Transaction<Tables>;

/** Reads and removes deliveries with their attempts. */
export class DeliveryHistory {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async list(
    slug: string,
    endpointId: string,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null> {
    return await this.#database.read(async (db) => {
      const endpoint = await db
        .selectFrom('webhook_endpoints')
        .innerJoin('organizations', 'organizations.id', 'organization_id')
        .select('webhook_endpoints.id')
        .where('webhook_endpoints.id', '=', endpointId.toLowerCase())
        .where('slug', '=', slug)
        .executeTakeFirst();
      if (endpoint === undefined) return null;
      const ofEndpoint = db.selectFrom('deliveries').where('endpoint_id', '=', endpoint.id);
      const { count } = await ofEndpoint
        .select((row) => row.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      const page = await ofEndpoint
        .select('id')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute();
      const ids = page.map(({ id }) => id);
      const found = await summaries(db, ids);
      return { items: ids.flatMap((id) => found.get(id) ?? []), count };
    });
  }

  async read(slug: string, deliveryId: string): Promise<DeliveryDetail | null> {
    const id = deliveryId.toLowerCase();
    const found = await this.#database.read(async (db) => {
      const sent = await ofOrganization(db, slug, id)
        .innerJoin('delivery_events', 'delivery_events.id', 'deliveries.event_id')
        .select('body')
        .executeTakeFirst();
      const summary = (await summaries(db, [id])).get(id);
      if (sent === undefined || summary === undefined) return null;
      return { ...summary, body: sent.body, attempts: await attemptsAfter(db, id, 0) };
    });
    return found && { ...found, hasMoreAttempts: found.attempts.length === ATTEMPTS_AT_ONCE };
  }

  async readAttempts(
    slug: string,
    deliveryId: string,
    after: number,
  ): Promise<readonly DeliveryAttempt[] | null> {
    const id = deliveryId.toLowerCase();
    return await this.#database.read(async (db) => {
      const isThere = await ofOrganization(db, slug, id).executeTakeFirst();
      return isThere === undefined ? null : await attemptsAfter(db, id, after);
    });
  }

  /** Removes some of the deliveries queued before a time. @returns how many; 0 when none is left */
  async removeSome(before: Micros): Promise<number> {
    const { dialect } = this.#database;
    return await this.#database.transaction(async (tx) => {
      const ids = await oldest(tx, dialect, before);
      if (ids.length === 0) {
        await tx
          .deleteFrom('delivery_events')
          .where('taken_at', '<', before)
          .where((row) =>
            row.not(
              row.exists(
                row
                  .selectFrom('deliveries')
                  .select('deliveries.id')
                  .whereRef('deliveries.event_id', '=', 'delivery_events.id'),
              ),
            ),
          )
          .execute();
        return 0;
      }
      await tx.deleteFrom('waiting_deliveries').where('delivery_id', 'in', ids).execute();
      await tx.deleteFrom('delivery_attempts').where('delivery_id', 'in', ids).execute();
      await tx.deleteFrom('deliveries').where('id', 'in', ids).execute();
      return ids.length;
    });
  }
}

/** A delivery to an endpoint of an organization. */
export function ofOrganization(db: Database, slug: string, deliveryId: string) {
  return db
    .selectFrom('deliveries')
    .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'deliveries.endpoint_id')
    .innerJoin('organizations', 'organizations.id', 'webhook_endpoints.organization_id')
    .select(['deliveries.id', 'deliveries.endpoint_id'])
    .where('deliveries.id', '=', deliveryId.toLowerCase())
    .where('slug', '=', slug);
}

async function oldest(tx: Transaction<Tables>, dialect: Dialect, before: Micros): Promise<readonly string[]> {
  const query = tx
    .selectFrom('deliveries')
    .select('id')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(REMOVED_AT_ONCE);
  return (await dialect.lock(query).execute()).map(({ id }) => id);
}

/** Summaries of deliveries, by id. */
export async function summaries(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeliverySummary>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('deliveries as d')
    .innerJoin('delivery_events as e', 'e.id', 'd.event_id')
    .leftJoin('waiting_deliveries as w', 'w.delivery_id', 'd.id')
    .select((row) => [
      'd.id',
      'd.created_at',
      'e.type',
      'w.delivery_id as waiting',
      'w.attempted_at',
      row
        .selectFrom('delivery_attempts as a')
        .select((a) => a.fn.countAll<number>().as('ended'))
        .whereRef('a.delivery_id', '=', 'd.id')
        .as('ended'),
      row
        .selectFrom('delivery_attempts as a')
        .select((a) => a.fn.max('a.succeeded').as('succeeded'))
        .whereRef('a.delivery_id', '=', 'd.id')
        .as('succeeded'),
    ])
    .where('d.id', 'in', ids)
    .execute();
  return new Map(
    rows.map(({ id, type, created_at, waiting, attempted_at, ended, succeeded }) => {
      const atRest: DeliveryStatus = succeeded === 1 ? 'success' : 'failed';
      const status = waiting === null ? atRest : 'pending';
      const attempt_count = invariant(ended, 'count of attempts') + (attempted_at === null ? 0 : 1);
      return [id, { id, event_type: type, status, created_at, attempt_count }];
    }),
  );
}

/** The finished attempts, followed by the running one. */
async function attemptsAfter(db: Database, id: string, after: number): Promise<readonly DeliveryAttempt[]> {
  const ended: readonly DeliveryAttempt[] = await db
    .selectFrom('delivery_attempts')
    .select([
      'attempt_number',
      'http_status_code',
      'response_body',
      'duration_ms',
      'attempted_at',
      'error_message',
    ])
    .where('delivery_id', '=', id)
    .where('attempt_number', '>', after)
    .orderBy('attempt_number')
    .limit(ATTEMPTS_AT_ONCE)
    .execute();
  if (ended.length === ATTEMPTS_AT_ONCE) return ended;
  const underWay = await db
    .selectFrom('waiting_deliveries')
    .select(['attempts', 'attempted_at'])
    .where('delivery_id', '=', id)
    .where('attempts', '>', ended.at(-1)?.attempt_number ?? after)
    .executeTakeFirst();
  if (underWay === undefined || underWay.attempted_at === null) return ended;
  const { attempts, attempted_at } = underWay;
  return [
    ...ended,
    {
      attempt_number: attempts,
      http_status_code: null,
      response_body: '',
      duration_ms: null,
      attempted_at,
      error_message: null,
    },
  ];
}
