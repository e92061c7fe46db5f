import type { JoinBuilder, Transaction } from 'kysely';
import {
  type ListedView,
  type SavedAs,
  type SavedView,
  type Views,
  VIEWS_OF_A_USER,
  VIEWS_OF_AN_ORGANIZATION,
} from '../contracts/accounts.js';
import type { ControlDatabase } from './control-database.js';
import { nextNumbers } from './numbers.js';
import type { Tables } from './tables.js';

/** Saved views, one row each. */
export class ViewRows implements Views {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async list(userId: string): Promise<readonly ListedView[]> {
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('views')
        .leftJoin('organizations', 'organizations.id', 'views.organization_id')
        .leftJoin('members', (join) => isMembership(join, userId))
        .select(['views.id', 'views.name', 'views.path', 'views.user_id', 'members.role'])
        .select('organizations.slug as org_slug')
        .where((row) => row.or([row('views.user_id', '=', userId), row('members.role', 'is not', null)]))
        .orderBy('views.name')
        .orderBy('views.id')
        .execute(),
    );
    return rows.map(({ user_id, role, ...view }) => ({
      ...view,
      may_change: user_id === userId || role === 'admin',
    }));
  }

  async put(userId: string, { id, name, path, org_slug: slug }: SavedView): Promise<SavedAs> {
    return await this.#database.transaction(async (tx) => {
      // Taking a number serializes the transactions, so that the limits hold.
      await nextNumbers(tx, 'view', 1);
      const known = await tx.selectFrom('views').select('id').where('id', '=', id).executeTakeFirst();
      if (known && !(await maySet(tx, userId, id))) return 'foreign';
      const organization = slug === null ? null : await organizationOf(tx, userId, slug);
      if (organization === undefined) return 'no_organization';
      if (organization !== null && (await isFull(tx, id, 'organization_id', organization))) return 'full';
      if (!known && (await isFull(tx, id, 'user_id', userId))) return 'full';
      const row = { name, path, organization_id: organization };
      await tx
        .insertInto('views')
        .values({ id, user_id: userId, ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
      return 'saved';
    });
  }

  async remove(userId: string, id: string): Promise<boolean> {
    return await this.#database.transaction(async (tx) => {
      if (!(await maySet(tx, userId, id))) return false;
      await tx.deleteFrom('views').where('id', '=', id).execute();
      return true;
    });
  }
}

/** Whether the user created a view, or administers its organization. */
async function maySet(tx: Transaction<Tables>, userId: string, id: string): Promise<boolean> {
  const found = await tx
    .selectFrom('views')
    .leftJoin('members', (join) => isMembership(join, userId))
    .select('views.id')
    .where('views.id', '=', id)
    .where((row) => row.or([row('views.user_id', '=', userId), row('members.role', '=', 'admin')]))
    .executeTakeFirst();
  return found !== undefined;
}

/** @returns undefined if the user is not a member of such an organization */
async function organizationOf(
  tx: Transaction<Tables>,
  userId: string,
  slug: string,
): Promise<string | undefined> {
  const found = await tx
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .select('organizations.id')
    .where('organizations.slug', '=', slug)
    .where('members.user_id', '=', userId)
    .executeTakeFirst();
  return found?.id;
}

/** Whether the limit of views is reached, not counting this one. */
async function isFull(
  tx: Transaction<Tables>,
  id: string,
  column: 'user_id' | 'organization_id',
  owner: string,
): Promise<boolean> {
  const { count } = await tx
    .selectFrom('views')
    .select((row) => row.fn.countAll().as('count'))
    .where(column, '=', owner)
    .where('id', '<>', id)
    .executeTakeFirstOrThrow();
  return Number(count) >= (column === 'user_id' ? VIEWS_OF_A_USER : VIEWS_OF_AN_ORGANIZATION);
}

/** The user's membership in the organization of a view. */
function isMembership(
  join: JoinBuilder<Tables, 'views' | 'members'>,
  userId: string,
): JoinBuilder<Tables, 'views' | 'members'> {
  return join
    .onRef('members.organization_id', '=', 'views.organization_id')
    .on('members.user_id', '=', userId);
}
