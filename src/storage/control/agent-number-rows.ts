import { sql, type Kysely } from 'kysely';
import {
  type NamedAgent,
  type InternedAgent,
  type InternedAgents,
  OTHER_AGENTS,
} from '../contracts/coordination.js';
import type { ControlDatabase } from './control-database.js';
import { indexKey } from './index-key.js';
import { NamedAgents } from './named-agents.js';
import { nextNumbers } from './numbers.js';
import type { Tables } from './tables.js';

/** Each takes two of SQLite's 32,766 parameters per statement. */
const NAMES_A_QUERY = 1000;
/** Each takes seven. */
const ROWS_A_STATEMENT = 1000;
/** Each takes one. */
const TENANTS_A_QUERY = 10_000;

/**
 * One row per name. Adding names or creating agents locks the counter of agents first; calls with known names only, which is nearly
 * always the case, and calls for users at their limit lock nothing.
 */
export class AgentNumberRows implements InternedAgents {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async number(store: string, runs: readonly NamedAgent[], most: number): Promise<readonly InternedAgent[]> {
    // Unpaired surrogates are replaced as the database does.
    const named = runs.map((run) => ({ ...run, name: run.name.toWellFormed() }));
    const known = await this.#database.read((db) => find(db, store, named, most));
    const numbered = known.name(named);
    if (!known.hasChanged) return numbered;
    return await this.#database.transaction(async (tx) => {
      const last = await nextNumbers(tx, 'agent', 0);
      const now = await find(tx, store, named, most, last);
      const agents = now.name(named);
      const { added, arisen } = now;
      if (added.length > 0) await nextNumbers(tx, 'agent', added.length);
      for (let start = 0; start < added.length; start += ROWS_A_STATEMENT)
        await tx
          .insertInto('numbered_agents')
          .values(added.slice(start, start + ROWS_A_STATEMENT).map((agent) => toRow(store, agent)))
          .execute();
      for (const { number, created_at } of arisen)
        await tx.updateTable('numbered_agents').set({ created_at }).where('number', '=', number).execute();
      return agents;
    });
  }

  async ofTenant(store: string, tenant: number): Promise<readonly InternedAgent[]> {
    return await this.#database.read((db) =>
      db
        .selectFrom('numbered_agents')
        .select(['tenant', 'number', 'id', 'name', 'created_at'])
        .where('store', '=', store)
        .where('tenant', '=', tenant)
        .orderBy('number')
        .execute(),
    );
  }
}

/** The stored names of runs; and, if one is new, how many names its user has. */
async function find(
  db: Kysely<Tables>,
  store: string,
  runs: readonly NamedAgent[],
  most: number,
  last = 0,
): Promise<NamedAgents> {
  const known = new NamedAgents(last, most, await findNames(db, store, runs));
  const tenants = known.tenantsWithNewNames(runs);
  if (tenants.length === 0) return known;
  known.add(
    await findNames(
      db,
      store,
      tenants.map((tenant) => ({ tenant, name: OTHER_AGENTS })),
    ),
  );
  for (let start = 0; start < tenants.length; start += TENANTS_A_QUERY) {
    const counts = await db
      .selectFrom('numbered_agents')
      .select((row) => ['tenant', row.fn.countAll<number>().as('names')])
      .where('store', '=', store)
      .where('tenant', 'in', tenants.slice(start, start + TENANTS_A_QUERY))
      .where('name_key', '<>', OTHER_AGENTS)
      .groupBy('tenant')
      .execute();
    for (const { tenant, names } of counts) known.hasNames(tenant, names);
  }
  return known;
}

async function findNames(
  db: Kysely<Tables>,
  store: string,
  names: readonly { readonly tenant: number; readonly name: string }[],
): Promise<readonly InternedAgent[]> {
  const distinct = new Map(names.map(({ tenant, name }) => [`${String(tenant)} ${name}`, { tenant, name }]));
  const all = [...distinct.values()];
  const found: InternedAgent[] = [];
  for (let start = 0; start < all.length; start += NAMES_A_QUERY) {
    const pairs = all
      .slice(start, start + NAMES_A_QUERY)
      // Without the cast, PostgreSQL would type the first column as text.
      .map(({ tenant, name }) => sql`(cast(${tenant} as bigint), ${indexKey(name)})`);
    const { rows } = await sql<InternedAgent>`
      select tenant, number, id, name, created_at from numbered_agents
      where store = ${store} and (tenant, name_key) in (values ${sql.join(pairs)})`.execute(db);
    found.push(...rows);
  }
  return found;
}

function toRow(store: string, agent: InternedAgent): Tables['numbered_agents'] {
  const { number, tenant, id, name, created_at } = agent;
  return { number, store, tenant, id, name, name_key: indexKey(name), created_at };
}
