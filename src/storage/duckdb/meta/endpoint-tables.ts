import type { Micros } from '../../../signal/time.js';
import type {
  CreatedEndpoint,
  EndpointChange,
  StoredEndpoint,
  TestedEndpoint,
  WebhookEndpoint,
} from '../../webhook-endpoints.js';
import type { Row, Value } from '../connection.js';
import type { EventInterests, Subscription } from '../events/interests.js';
import type { DeliveryTables } from './delivery-tables.js';
import type { MetaConnection } from './meta-connection.js';
import type { MetaEvents } from './meta-events.js';
import { ENDPOINTS, ORGANIZATIONS, readAnyText } from './tables.js';

const OF_ORGANIZATION = 'organization_id = (SELECT id FROM organizations WHERE slug = ?)';
const THIS_ONE = `WHERE id = ?::UUID AND ${OF_ORGANIZATION}`;

/** The webhook endpoints in the main file. */
export class EndpointTables {
  readonly #connection: MetaConnection;
  readonly #interests: EventInterests;
  readonly #events: MetaEvents;
  readonly #deliveries: DeliveryTables;

  constructor(parts: {
    readonly connection: MetaConnection;
    readonly interests: EventInterests;
    readonly events: MetaEvents;
    readonly deliveries: DeliveryTables;
  }) {
    this.#connection = parts.connection;
    this.#interests = parts.interests;
    this.#events = parts.events;
    this.#deliveries = parts.deliveries;
  }

  /** Tells the interests of all endpoints. */
  async load(): Promise<void> {
    for (const row of await this.#connection.read(ENDPOINTS.select()))
      this.#interests.put(toSubscription(row));
  }

  async create(slug: string, endpoint: StoredEndpoint, most = Infinity): Promise<CreatedEndpoint> {
    return await this.#connection.transaction(async () => {
      const [row] = await this.#connection.rows(ORGANIZATIONS.select('WHERE slug = ?', ['id']), [slug]);
      if (row === undefined) return 'unknown';
      const [found] = await this.#connection.rows(
        'SELECT count(*) AS count FROM webhook_endpoints WHERE organization_id = ?::UUID',
        [String(row.id)],
      );
      if (Number(found?.count) >= most) return 'full';
      const event_types = writeTypes(endpoint.event_types);
      const written = { ...endpoint, event_types, organization_id: String(row.id) };
      await this.#connection.run(...ENDPOINTS.insert(written));
      this.#connection.afterCommit(() => {
        this.#interests.put(toSubscription(written));
      });
      return 'created';
    });
  }

  async list(slug: string): Promise<readonly WebhookEndpoint[]> {
    const rest = `WHERE ${OF_ORGANIZATION} ORDER BY created_at DESC, id DESC`;
    return (await this.#connection.read(ENDPOINTS.select(rest), [slug])).map(toEndpoint);
  }

  async update(
    slug: string,
    id: string,
    change: EndpointChange,
    now: Micros,
  ): Promise<WebhookEndpoint | null> {
    return await this.#connection.transaction(async () => {
      const [before] = await this.#connection.rows(ENDPOINTS.select(THIS_ONE, ['is_active']), [id, slug]);
      if (before === undefined) return null;
      const columns = changedColumns(change);
      const assignments = columns.map(([column]) => `${column} = ?`).join(', ');
      if (columns.length > 0)
        await this.#connection.run(`UPDATE webhook_endpoints SET ${assignments} ${THIS_ONE}`, [
          ...columns.map(([, value]) => value),
          id,
          slug,
        ]);
      const [row] = await this.#connection.rows(ENDPOINTS.select(THIS_ONE), [id, slug]);
      if (row === undefined) return null;
      if (change.is_active === false) await this.#deliveries.endpointPaused(id);
      if (change.is_active === true && before.is_active === false)
        await this.#deliveries.endpointResumed(id, now);
      this.#connection.afterCommit(() => {
        this.#interests.put(toSubscription(row));
      });
      return toEndpoint(row);
    });
  }

  async delete(slug: string, id: string): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const isThere = await this.#change(`DELETE FROM webhook_endpoints ${THIS_ONE}`, [id, slug]);
      if (!isThere) return false;
      await this.#deliveries.endpointDeleted(id);
      this.#connection.afterCommit(() => {
        this.#interests.remove(id);
      });
      return true;
    });
  }

  async rotateSecret(slug: string, id: string, sealedSecret: string): Promise<boolean> {
    const statement = `UPDATE webhook_endpoints SET sealed_secret = ? ${THIS_ONE}`;
    return await this.#connection.transaction(async () => {
      const isThere = await this.#change(statement, [sealedSecret, id, slug]);
      this.#connection.afterCommit(() => {
        const before = this.#interests.subscription(id);
        if (isThere && before) this.#interests.put({ ...before, sealedSecret });
      });
      return isThere;
    });
  }

  async test(slug: string, id: string, now: Micros): Promise<TestedEndpoint | null> {
    return await this.#connection.transaction(async () => {
      const [row] = await this.#connection.rows(ENDPOINTS.select(THIS_ONE), [id, slug]);
      if (row === undefined) return null;
      const { name, is_active } = toEndpoint(row);
      if (!is_active) return 'paused';
      const organizationId = String(row.organization_id);
      const event = await this.#events.add({
        type: 'webhook.test',
        owner: { organizationId },
        endpointId: id,
        now,
        data: { endpoint_id: id, endpoint_name: name, organization: slug },
      });
      const [deliveryId] = event === null ? [] : await this.#deliveries.takeAhead(event, organizationId, now);
      if (deliveryId === undefined) throw new Error('an active endpoint was not given the event of its test');
      return { deliveryId };
    });
  }

  async read(id: string): Promise<StoredEndpoint | null> {
    const [row] = await this.#connection.read(ENDPOINTS.select('WHERE id = ?::UUID'), [id]);
    return row === undefined ? null : toStoredEndpoint(row);
  }

  async listAll(): Promise<readonly StoredEndpoint[]> {
    return (await this.#connection.read(ENDPOINTS.select('ORDER BY created_at, id'))).map(toStoredEndpoint);
  }

  /** In the transaction under way. @returns whether there was such a row. */
  async #change(statement: string, values: readonly Value[]): Promise<boolean> {
    const changed = await this.#connection.rows(`${statement} RETURNING 1 AS done`, values);
    return changed.length > 0;
  }
}

function changedColumns({ url, name, event_types, is_active }: EndpointChange): readonly [string, Value][] {
  const columns: [string, Value | undefined][] = [
    ['url', url],
    ['name', name],
    ['event_types', event_types && writeTypes(event_types)],
    ['is_active', is_active],
    ['consecutive_failures', is_active === true ? 0 : undefined],
  ];
  return columns.flatMap(([column, value]) => (value === undefined ? [] : [[column, value]]));
}

/** Types hold no blanks. */
function writeTypes(types: readonly string[]): string {
  return types.join(' ');
}

function readTypes(value: Value | undefined): readonly string[] {
  return String(value).split(' ');
}

export function toEndpoint(row: Row): WebhookEndpoint {
  return {
    id: String(row.id),
    url: String(row.url),
    name: readAnyText(row.name) ?? '',
    event_types: readTypes(row.event_types),
    is_active: row.is_active === true,
    consecutive_failures: Number(row.consecutive_failures),
    created_at: Number(row.created_at),
  };
}

function toSubscription(row: Row): Subscription {
  return {
    endpointId: String(row.id),
    organizationId: String(row.organization_id),
    eventTypes: readTypes(row.event_types),
    isActive: row.is_active === true,
    failures: Number(row.consecutive_failures),
    url: String(row.url),
    sealedSecret: String(row.sealed_secret),
  };
}

function toStoredEndpoint(row: Row): StoredEndpoint {
  return { ...toEndpoint(row), sealed_secret: String(row.sealed_secret) };
}
