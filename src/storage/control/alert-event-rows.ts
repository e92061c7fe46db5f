import type { Kysely } from 'kysely';
import type { AlertEventFilter, AlertEventPage, AlertType } from '../contracts/alerts.js';
import { isTest, notificationsOf } from './alert-firing-rows.js';
import type { Tables } from './tables.js';

/** A page of the firings of all rules of a user, the newest first. */
export async function listEvents(
  db: Kysely<Tables>,
  userId: string,
  filter: AlertEventFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<AlertEventPage> {
  const matching = eventsOf(db, userId, filter);
  const { count } = await matching
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const rows = await matching
    .select([
      'f.number',
      'f.id',
      'f.fired_at',
      'f.value',
      'f.threshold',
      'f.resolved_at',
      'f.body',
      'r.id as alert_id',
      'r.name',
      'r.type',
      'r.agent_id',
      'r.agent_name',
      'r.target_service',
    ])
    .orderBy('f.number', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const numbers = rows.map(({ number }) => number);
  const notifications = await notificationsOf(db, numbers);
  const explained = await tracesOf(db, numbers);
  const items = rows.map(({ number, type, ...event }) => ({
    ...event,
    type: type as AlertType,
    is_test: isTest(event.body),
    notifications: notifications(number),
    trace_ids: explained(number),
  }));
  return { items, count };
}

function eventsOf(
  db: Kysely<Tables>,
  userId: string,
  { from, to, alertId, agentId, traceId }: AlertEventFilter,
) {
  let query = db
    .selectFrom('alert_firings as f')
    .innerJoin('alert_rules as r', 'r.id', 'f.alert_id')
    .where('r.user_id', '=', userId.toLowerCase());
  if (from !== undefined) query = query.where('f.fired_at', '>=', from);
  if (to !== undefined) query = query.where('f.fired_at', '<', to);
  if (alertId !== undefined) query = query.where('f.alert_id', '=', alertId.toLowerCase());
  if (agentId !== undefined) query = query.where('r.agent_id', '=', agentId.toLowerCase());
  if (traceId !== undefined)
    query = query.where('f.number', 'in', (row) =>
      row.selectFrom('alert_evidence').select('firing').where('trace_id', '=', traceId.toLowerCase()),
    );
  return query;
}

/** @returns the traces that explain a firing, by its number */
async function tracesOf(
  db: Kysely<Tables>,
  firings: readonly number[],
): Promise<(firing: number) => string[]> {
  if (firings.length === 0) return () => [];
  const rows = await db
    .selectFrom('alert_evidence')
    .select(['firing', 'trace_id'])
    .where('firing', 'in', firings)
    .orderBy('firing')
    .orderBy('place')
    .execute();
  return (number) => rows.filter(({ firing }) => firing === number).map(({ trace_id }) => trace_id);
}
