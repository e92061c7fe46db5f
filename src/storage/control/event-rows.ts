import { sql, type Transaction } from 'kysely';
import { invariant } from '../../signal/checked.js';
import { ALL_EVENTS, type EventType } from '../../signal/event.js';
import type { Fact } from '../contracts/events.js';
import { indexKey } from './index-key.js';
import { nextNumbers } from './numbers.js';
import type { Tables } from './tables.js';

/** Each takes ten parameters: SQLite allows 32,766 in a statement, PostgreSQL 65,535. */
const ROWS_A_STATEMENT = 1000;

/**
 * Appends facts to the log in order. Must be the last step of a transaction: until its commit no other transaction can append.
 *
 * @returns the number of new facts
 */
export async function appendFacts(tx: Transaction<Tables>, facts: readonly Fact[]): Promise<number> {
  if (facts.length === 0) return 0;
  const first = (await nextNumbers(tx, 'event', facts.length)) - facts.length + 1;
  const allowed = await withoutExcluded(tx, facts);
  let added = 0n;
  for (let start = 0; start < allowed.length; start += ROWS_A_STATEMENT) {
    const rows = allowed
      .slice(start, start + ROWS_A_STATEMENT)
      .map((fact, i) => toRow(fact, first + start + i));
    const inserted = await tx
      .insertInto('events')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['tenant', 'fact']).doNothing())
      .executeTakeFirst();
    added += invariant(inserted.numInsertedOrUpdatedRows, 'count of rows');
  }
  return Number(added);
}

/** Leaves out the facts whose {@link Fact.unless} is in the log. */
async function withoutExcluded(tx: Transaction<Tables>, facts: readonly Fact[]): Promise<readonly Fact[]> {
  const excluding = facts.flatMap(({ tenant, unless }) => (unless === undefined ? [] : { tenant, unless }));
  const logged = new Set<string>();
  for (let start = 0; start < excluding.length; start += ROWS_A_STATEMENT) {
    const pairs = excluding
      .slice(start, start + ROWS_A_STATEMENT)
      .map(({ tenant, unless }) => sql`(${tenant}, ${indexKey(unless)})`);
    const { rows } = await sql<Pick<Tables['events'], 'tenant' | 'fact'>>`
      select tenant, fact from events where (tenant, fact) in (values ${sql.join(pairs)})`.execute(tx);
    for (const { tenant, fact } of rows) logged.add(`${tenant} ${fact}`);
  }
  if (logged.size === 0) return facts;
  return facts.filter(
    ({ tenant, unless }) => unless === undefined || !logged.has(`${tenant} ${indexKey(unless)}`),
  );
}

/**
 * Whether a fact is subscribed to: by a reader that requests its type, or by an active endpoint of the event's organization or, for a
 * user's event, of an organization of the user.
 */
export async function isWanted(tx: Transaction<Tables>, { tenant, event }: Fact): Promise<boolean> {
  const { type, timestamp } = event;
  const read = await tx
    .selectFrom('event_wants')
    .select('type')
    .where('type', 'in', [type, ALL_EVENTS])
    .where('until', '>', timestamp)
    .executeTakeFirst();
  if (read !== undefined) return true;
  const { organization_id } = event;
  const subscribed = await tx
    .selectFrom('webhook_endpoints')
    .select('id')
    .where((row) =>
      organization_id === null
        ? row(
            'organization_id',
            'in',
            row.selectFrom('members').select('organization_id').where('user_id', '=', tenant),
          )
        : row('organization_id', '=', organization_id),
    )
    .where('is_active', '=', 1)
    .where((row) => row.or([subscribes(type), subscribes(ALL_EVENTS)]))
    .executeTakeFirst();
  return subscribed !== undefined;
}

/** Types contain no blanks, and are stored with blanks between them. */
function subscribes(type: EventType | typeof ALL_EVENTS) {
  return sql<boolean>`' ' || webhook_endpoints.event_types || ' ' like ${`% ${type} %`}`;
}

function toRow({ fact, tenant, event }: Fact, number: number): Tables['events'] {
  const { id, type, timestamp, organization_id, endpoint_id, body } = event;
  return { number, fact: indexKey(fact), tenant, id, type, timestamp, organization_id, endpoint_id, body };
}
