import type { Kysely, Transaction } from 'kysely';
import { ConflictError } from '../contracts/errors.js';
import type { Member, Membership, Organization, Organizations, Role } from '../contracts/accounts.js';
import type { ControlDatabase } from './control-database.js';
import type { Tables } from './tables.js';

/** Organizations and their members. */
export class OrganizationRows implements Organizations {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async list(): Promise<readonly Organization[]> {
    return await this.#database.read((db) =>
      db
        .selectFrom('organizations')
        .select(['id', 'slug', 'name', 'created_at'])
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    );
  }

  async create(organization: Organization): Promise<void> {
    await this.#database.transaction((tx) => insertOrganization(tx, organization));
  }

  async putMember(slug: string, userId: string, role?: Role): Promise<Role | null> {
    return await this.#database.transaction(async (tx, notify) => {
      const organizationId = await organizationOf(tx, slug);
      const user = await tx
        .selectFrom('users')
        .select('id')
        .where('id', '=', userId.toLowerCase())
        .executeTakeFirst();
      if (organizationId === null || user === undefined) return null;
      const member = { organization_id: organizationId, user_id: user.id, role };
      const given = await insertMember(tx, member);
      notify('endpoints');
      return given;
    });
  }

  async listMembers(slug: string): Promise<readonly Member[] | null> {
    return await this.#database.read(async (db) => {
      const organizationId = await organizationOf(db, slug);
      if (organizationId === null) return null;
      const rows = await db
        .selectFrom('members')
        .innerJoin('users', 'users.id', 'members.user_id')
        .select(['users.id as user_id', 'users.email', 'users.name', 'members.role'])
        .where('members.organization_id', '=', organizationId)
        .orderBy('users.email_key')
        .execute();
      return rows.map((row) => ({ ...row, role: toRole(row.role) }));
    });
  }

  async removeMember(slug: string, userId: string): Promise<boolean> {
    return await this.#database.transaction(async (tx, notify) => {
      const organizationId = await organizationOf(tx, slug);
      if (organizationId === null) return false;
      const removed = await tx
        .deleteFrom('members')
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId.toLowerCase())
        .executeTakeFirst();
      if (removed.numDeletedRows === 0n) return false;
      notify('endpoints');
      return true;
    });
  }

  async membershipsOf(userId: string): Promise<readonly Membership[]> {
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('members')
        .innerJoin('organizations', 'organizations.id', 'members.organization_id')
        .select(['organizations.slug', 'organizations.name as organization_name', 'members.role'])
        .where('members.user_id', '=', userId.toLowerCase())
        .orderBy('organizations.slug')
        .execute(),
    );
    return rows.map((row) => ({ ...row, role: toRole(row.role) }));
  }
}

/** @throws ConflictError `slug` */
export async function insertOrganization(tx: Transaction<Tables>, organization: Organization): Promise<void> {
  const { id, slug, name, created_at } = organization;
  const inserted = await tx
    .insertInto('organizations')
    .values({ id, slug, slug_key: slug.toLowerCase(), name, created_at })
    .onConflict((conflict) => conflict.column('slug_key').doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows !== 1n)
    throw new ConflictError('slug', `An organization with the slug ${slug} already exists.`);
}

/**
 * Adds a member, or changes a member's role.
 *
 * @param member without a role: as in `putMember`
 * @returns the role
 */
export async function insertMember(
  tx: Transaction<Tables>,
  { role, ...member }: Omit<Tables['members'], 'role'> & { readonly role: Role | undefined },
): Promise<Role> {
  const row = await tx
    .insertInto('members')
    .values({ ...member, role: role ?? 'member' })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'user_id'])
        .doUpdateSet((given) => ({ role: role ?? given.ref('members.role') })),
    )
    .returning('role')
    .executeTakeFirstOrThrow();
  return toRole(row.role);
}

async function organizationOf(db: Kysely<Tables>, slug: string): Promise<string | null> {
  const row = await db.selectFrom('organizations').select('id').where('slug', '=', slug).executeTakeFirst();
  return row?.id ?? null;
}

function toRole(text: string): Role {
  return text === 'admin' ? 'admin' : 'member';
}
