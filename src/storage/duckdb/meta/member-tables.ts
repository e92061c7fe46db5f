import type { Member, Membership, Organization, Role } from '../../meta-store.js';
import type { Row } from '../connection.js';
import type { EventInterests } from '../events/interests.js';
import type { MetaConnection } from './meta-connection.js';
import { toOrganization } from './meta-rows.js';
import { MEMBERS, ORGANIZATIONS } from './tables.js';
import { refuseTaken } from './unique-names.js';

/** The organizations in the main file and who belongs to them. */
export class MemberTables {
  readonly #connection: MetaConnection;
  readonly #interests: EventInterests;

  constructor(connection: MetaConnection, interests: EventInterests) {
    this.#connection = connection;
    this.#interests = interests;
  }

  /** Tells the interests of all memberships. */
  async load(): Promise<void> {
    const rows = await this.#connection.read(
      'SELECT m.organization_id::VARCHAR AS organization_id, u.tenant FROM members m JOIN users u ON u.id = m.user_id',
    );
    for (const row of rows) this.#interests.join(Number(row.tenant), String(row.organization_id));
  }

  async listOrganizations(): Promise<readonly Organization[]> {
    return (await this.#connection.read(ORGANIZATIONS.select('ORDER BY created_at, id'))).map(toOrganization);
  }

  /** In the transaction under way. @throws ConflictError `slug` */
  async createOrganization(organization: Organization): Promise<void> {
    await refuseTaken(this.#connection, 'organizations', 'slug', organization.slug);
    await this.#connection.run(...ORGANIZATIONS.insert({ ...organization }));
  }

  /** As `MetaStore.putMember`. */
  async put(slug: string, userId: string, tenant: number, role?: Role): Promise<Role | null> {
    return await this.#connection.transaction(async () => {
      const organizationId = await this.#organizationId(slug);
      if (organizationId === null) return null;
      const given = role ?? (await this.#roleOf(organizationId, userId)) ?? 'member';
      await this.join(organizationId, userId, tenant, given);
      return given;
    });
  }

  /** As `MetaStore.listMembers`. */
  async list(slug: string): Promise<readonly Member[] | null> {
    // Of one moment.
    return await this.#connection.transaction(async () => {
      const organizationId = await this.#organizationId(slug);
      if (organizationId === null) return null;
      const rows = await this.#connection.rows(
        'SELECT u.id::VARCHAR AS user_id, u.email, u.name, m.role FROM members m JOIN users u ON u.id = m.user_id WHERE m.organization_id = ?::UUID ORDER BY lower(u.email), u.id',
        [organizationId],
      );
      return rows.map((row) => ({
        user_id: String(row.user_id),
        email: String(row.email),
        name: String(row.name),
        role: toRole(row),
      }));
    });
  }

  /** In the transaction under way: makes somebody a member, or gives a member another role. */
  async join(organizationId: string, userId: string, tenant: number, role: Role): Promise<void> {
    const [insert, values] = MEMBERS.insert({ organization_id: organizationId, user_id: userId, role });
    await this.#connection.run(`${insert} ON CONFLICT DO UPDATE SET role = excluded.role`, values);
    this.#connection.afterCommit(() => {
      this.#interests.join(tenant, organizationId);
    });
  }

  async remove(slug: string, userId: string, tenant: number): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const [removed] = await this.#connection.rows(
        'DELETE FROM members WHERE organization_id = (SELECT id FROM organizations WHERE slug = ?) AND user_id = ?::UUID RETURNING organization_id::VARCHAR AS organization_id',
        [slug, userId],
      );
      if (removed === undefined) return false;
      this.#connection.afterCommit(() => {
        this.#interests.leave(tenant, String(removed.organization_id));
      });
      return true;
    });
  }

  async membershipsOf(userId: string): Promise<readonly Membership[]> {
    const rows = await this.#connection.read(
      'SELECT o.slug, o.name, m.role FROM members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = ?::UUID ORDER BY o.slug',
      [userId],
    );
    return rows.map((row) => ({
      slug: String(row.slug),
      organization_name: String(row.name),
      role: toRole(row),
    }));
  }

  async #roleOf(organizationId: string, userId: string): Promise<Role | undefined> {
    const [row] = await this.#connection.rows(
      MEMBERS.select('WHERE organization_id = ?::UUID AND user_id = ?::UUID', ['role']),
      [organizationId, userId],
    );
    return row === undefined ? undefined : toRole(row);
  }

  async #organizationId(slug: string): Promise<string | null> {
    const [row] = await this.#connection.rows(ORGANIZATIONS.select('WHERE slug = ?'), [slug]);
    return row === undefined ? null : String(row.id);
  }
}

function toRole(row: Row): Role {
  return row.role === 'admin' ? 'admin' : 'member';
}
