import type { EndpointChange, StoredEndpoint, WebhookEndpoint } from '../../webhook-endpoints.js';
import type { Row, Value } from '../database.js';
import type { MetaConnection } from './meta-connection.js';
import { ENDPOINTS, ORGANIZATIONS, readAnyText } from './tables.js';

const OF_ORGANIZATION = 'organization_id = (SELECT id FROM organizations WHERE slug = ?)';
const THIS_ONE = `WHERE id = ?::UUID AND ${OF_ORGANIZATION}`;

/** The webhook endpoints in the main file. */
export class EndpointTables {
  readonly #connection: MetaConnection;

  constructor(connection: MetaConnection) {
    this.#connection = connection;
  }

  async create(slug: string, endpoint: StoredEndpoint): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const [row] = await this.#connection.rows(ORGANIZATIONS.select('WHERE slug = ?', ['id']), [slug]);
      if (row === undefined) return false;
      const event_types = writeTypes(endpoint.event_types);
      await this.#connection.run(
        ...ENDPOINTS.insert({ ...endpoint, event_types, organization_id: String(row.id) }),
      );
      return true;
    });
  }

  async list(slug: string): Promise<readonly WebhookEndpoint[]> {
    const rest = `WHERE ${OF_ORGANIZATION} ORDER BY created_at DESC, id DESC`;
    return (await this.#connection.read(ENDPOINTS.select(rest), [slug])).map(toEndpoint);
  }

  async update(slug: string, id: string, change: EndpointChange): Promise<WebhookEndpoint | null> {
    return await this.#connection.transaction(async () => {
      const columns = changedColumns(change);
      const assignments = columns.map(([column]) => `${column} = ?`).join(', ');
      if (columns.length > 0)
        await this.#connection.run(`UPDATE webhook_endpoints SET ${assignments} ${THIS_ONE}`, [
          ...columns.map(([, value]) => value),
          id,
          slug,
        ]);
      const [row] = await this.#connection.rows(ENDPOINTS.select(THIS_ONE), [id, slug]);
      return row === undefined ? null : toEndpoint(row);
    });
  }

  async delete(slug: string, id: string): Promise<boolean> {
    return await this.#change(`DELETE FROM webhook_endpoints ${THIS_ONE}`, [id, slug]);
  }

  async rotateSecret(slug: string, id: string, sealedSecret: string): Promise<boolean> {
    return await this.#change(`UPDATE webhook_endpoints SET sealed_secret = ? ${THIS_ONE}`, [
      sealedSecret,
      id,
      slug,
    ]);
  }

  async read(id: string): Promise<StoredEndpoint | null> {
    const [row] = await this.#connection.read(ENDPOINTS.select('WHERE id = ?::UUID'), [id]);
    return row === undefined ? null : toStoredEndpoint(row);
  }

  async listAll(): Promise<readonly StoredEndpoint[]> {
    return (await this.#connection.read(ENDPOINTS.select('ORDER BY created_at, id'))).map(toStoredEndpoint);
  }

  /** @returns whether there was such a row. */
  async #change(statement: string, values: readonly Value[]): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const changed = await this.#connection.rows(`${statement} RETURNING 1 AS done`, values);
      return changed.length > 0;
    });
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

function toEndpoint(row: Row): WebhookEndpoint {
  return {
    id: String(row.id),
    url: String(row.url),
    name: readAnyText(row.name) ?? '',
    event_types: String(row.event_types).split(' '),
    is_active: row.is_active === true,
    consecutive_failures: Number(row.consecutive_failures),
    created_at: Number(row.created_at),
  };
}

function toStoredEndpoint(row: Row): StoredEndpoint {
  return { ...toEndpoint(row), sealed_secret: String(row.sealed_secret) };
}
