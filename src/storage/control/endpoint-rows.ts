import type { Kysely, Transaction } from 'kysely';
import { envelope } from '../../signal/event.js';
import { uuidV7 } from '../../signal/ids.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import type {
  CreatedEndpoint,
  EndpointChange,
  Endpoints,
  StoredEndpoint,
  TestedEndpoint,
  WebhookEndpoint,
} from '../contracts/deliveries.js';
import type { Fact } from '../contracts/events.js';
import type { ControlDatabase } from './control-database.js';
import { takeEvents } from './delivery-intake.js';
import { appendFacts } from './event-rows.js';
import type { Tables } from './tables.js';
import { forgetManual, removeOfEndpoint, resumeHeld } from './waiting-rows.js';

/** Webhook endpoints. */
export class EndpointRows implements Endpoints {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async create(slug: string, endpoint: StoredEndpoint, most = Infinity): Promise<CreatedEndpoint> {
    return await this.#database.transaction(async (tx, notify) => {
      // Locked, so that two concurrent calls count each other's endpoint.
      const query = tx.selectFrom('organizations').select('id').where('slug', '=', slug);
      const organization = await this.#database.dialect.lock(query).executeTakeFirst();
      if (organization === undefined) return 'unknown';
      const { count } = await tx
        .selectFrom('webhook_endpoints')
        .select((row) => row.fn.countAll<number>().as('count'))
        .where('organization_id', '=', organization.id)
        .executeTakeFirstOrThrow();
      if (count >= most) return 'full';
      await tx.insertInto('webhook_endpoints').values(fromEndpoint(endpoint, organization.id)).execute();
      notify('endpoints');
      return 'created';
    });
  }

  async list(slug: string): Promise<readonly WebhookEndpoint[]> {
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('organization_id', '=', organizationOf(db, slug))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute(),
    );
    return rows.map(toEndpoint);
  }

  async update(
    slug: string,
    id: string,
    change: EndpointChange,
    now: Micros,
  ): Promise<WebhookEndpoint | null> {
    return await this.#database.transaction(async (tx, notify) => {
      const before = await this.#locked(tx, slug, id);
      if (before === undefined) return null;
      const row = await tx
        .updateTable('webhook_endpoints')
        // An UPDATE needs at least one column.
        .set({ id: before.id, ...changedColumns(change) })
        .where('id', '=', before.id)
        .returningAll()
        .executeTakeFirstOrThrow();
      if (change.is_active === false) await forgetManual(tx, row.id);
      if (change.is_active === true && before.is_active === 0) {
        await resumeHeld(tx, row.id, now);
        notify('deliveries');
      }
      notify('endpoints');
      return toEndpoint(row);
    });
  }

  async delete(slug: string, id: string): Promise<boolean> {
    return await this.#database.transaction(async (tx, notify) => {
      const row = await this.#locked(tx, slug, id);
      if (row === undefined) return false;
      await removeOfEndpoint(tx, row.id);
      await tx.deleteFrom('webhook_endpoints').where('id', '=', row.id).execute();
      notify('endpoints');
      return true;
    });
  }

  async test(slug: string, id: string, now: Micros): Promise<TestedEndpoint | null> {
    return await this.#database.transaction(async (tx, notify, changed) => {
      const row = await this.#locked(tx, slug, id);
      if (row === undefined) return null;
      if (row.is_active === 0) return 'paused';
      const fact = endpointTested(row, slug, now);
      const [deliveryId] = await takeEvents(tx, this.#database.dialect, [fact], now);
      if (deliveryId === undefined) throw new Error('the test event was not queued for its endpoint');
      await appendFacts(tx, [fact]);
      changed([deliveryId]);
      notify('deliveries');
      notify('events');
      return { deliveryId };
    });
  }

  async rotateSecret(slug: string, id: string, sealedSecret: string): Promise<boolean> {
    return await this.#database.transaction(async (tx, notify) => {
      const changed = await tx
        .updateTable('webhook_endpoints')
        .set({ sealed_secret: sealedSecret })
        .where('id', '=', id.toLowerCase())
        .where('organization_id', '=', organizationOf(tx, slug))
        .executeTakeFirst();
      if (changed.numUpdatedRows === 0n) return false;
      notify('endpoints');
      return true;
    });
  }

  async find(id: string): Promise<StoredEndpoint | null> {
    const row = await this.#database.read((db) =>
      db.selectFrom('webhook_endpoints').selectAll().where('id', '=', id.toLowerCase()).executeTakeFirst(),
    );
    return row === undefined ? null : toStoredEndpoint(row);
  }

  async listAll(): Promise<readonly StoredEndpoint[]> {
    const rows = await this.#database.read((db) =>
      db.selectFrom('webhook_endpoints').selectAll().orderBy('created_at').orderBy('id').execute(),
    );
    return rows.map(toStoredEndpoint);
  }

  /** Locks an endpoint: enqueuing events and recording results wait. */
  async #locked(
    tx: Transaction<Tables>,
    slug: string,
    id: string,
  ): Promise<Tables['webhook_endpoints'] | undefined> {
    const query = tx
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('id', '=', id.toLowerCase())
      .where('organization_id', '=', organizationOf(tx, slug));
    return await this.#database.dialect.lock(query).executeTakeFirst();
  }
}

/** Enqueued directly for this endpoint only; event log readers find that it was already enqueued. */
function endpointTested(row: Tables['webhook_endpoints'], slug: string, now: Micros): Fact {
  const head = { id: uuidV7(now / MICROS_PER_MS), type: 'webhook.test', timestamp: now } as const;
  const body = envelope(head, { endpoint_id: row.id, endpoint_name: row.name, organization: slug });
  const { organization_id } = row;
  return {
    fact: `${head.type}:${head.id}`,
    tenant: organization_id,
    event: { ...head, organization_id, endpoint_id: row.id, body },
  };
}

function organizationOf(db: Kysely<Tables> | Transaction<Tables>, slug: string) {
  return db.selectFrom('organizations').select('id').where('slug', '=', slug);
}

function changedColumns({
  url,
  name,
  event_types,
  is_active,
}: EndpointChange): Partial<Tables['webhook_endpoints']> {
  return {
    ...(url !== undefined && { url }),
    ...(name !== undefined && { name }),
    ...(event_types !== undefined && { event_types: event_types.join(' ') }),
    ...(is_active !== undefined && { is_active: Number(is_active) }),
    ...(is_active === true && { consecutive_failures: 0 }),
  };
}

function fromEndpoint(endpoint: StoredEndpoint, organization_id: string): Tables['webhook_endpoints'] {
  return {
    ...endpoint,
    organization_id,
    event_types: endpoint.event_types.join(' '),
    is_active: Number(endpoint.is_active),
  };
}

function toEndpoint(row: Tables['webhook_endpoints']): WebhookEndpoint {
  const { id, url, name, event_types, consecutive_failures, created_at } = row;
  const is_active = row.is_active === 1;
  return { id, url, name, event_types: event_types.split(' '), is_active, consecutive_failures, created_at };
}

function toStoredEndpoint(row: Tables['webhook_endpoints']): StoredEndpoint {
  return { ...toEndpoint(row), sealed_secret: row.sealed_secret };
}
