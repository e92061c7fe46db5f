import type { Kysely, Transaction } from 'kysely';
import { envelope, type EventType } from '../../signal/event.js';
import { uuidV7 } from '../../signal/ids.js';
import { MICROS_PER_HOUR, MICROS_PER_MS } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import {
  type AlertFiring,
  type AlertNotification,
  type AlertRule,
  type DecidedFiring,
  type FiringPage,
  MAX_NOTICES_PER_HOUR,
  type Resolution,
  type TestFiring,
} from '../contracts/alerts.js';
import type { Topic } from '../contracts/coordination.js';
import { fromIncident, toRule } from './alert-columns.js';
import { appendFacts, isWanted } from './event-rows.js';
import type { Fact } from '../contracts/events.js';
import { noticesOf, toNotification } from './notice-columns.js';
import { nextNumbers } from './numbers.js';
import type { Tables } from './tables.js';

type Notify = (topic: Topic) => void;

/** Each takes at most twelve parameters; SQLite allows 32,766 per statement, PostgreSQL 65,535. */
const ROWS_A_STATEMENT = 1000;

/** Writes firings with all rows and events they cause. @returns for each whether it was written */
export async function recordFirings(
  tx: Transaction<Tables>,
  notify: Notify,
  firings: readonly DecidedFiring[],
): Promise<readonly boolean[]> {
  const { first, found } = await findRules(tx, firings);
  const written = firings.map((firing, i) => {
    const rule = found.get(firing.alertId.toLowerCase());
    if (rule === undefined || !rule.alert.is_active || rule.alert.last_fired_at !== firing.lastFiredAt)
      return null;
    // A second firing of the same rule in this call was decided without the first.
    found.delete(rule.alert.id);
    return { rule, firing, number: first + i, fact: firedFact(rule, firing) };
  });
  const all = written.filter((one) => one !== null);
  for (const some of inParts(all)) {
    await tx.insertInto('alert_firings').values(some.map(toFiringRow)).execute();
    const notices: Tables['alert_notices'][] = [];
    for (const { rule, firing, number } of some) {
      // Most alerts fire rarely and need no query.
      const { id, last_fired_at: last } = rule.alert;
      const isRare = last === null || last <= firing.firedAt - MICROS_PER_HOUR;
      const full = isRare ? new Set<string>() : await fullChannels(tx, id, firing.firedAt);
      notices.push(...noticesOf(rule, number, firing.firedAt).map((row) => suppressedIn(row, full)));
    }
    await tx.insertInto('alert_notices').values(notices.slice(0, ROWS_A_STATEMENT)).execute();
    const rest = notices.slice(ROWS_A_STATEMENT);
    if (rest.length > 0) await tx.insertInto('alert_notices').values(rest).execute();
    const evidence = some.flatMap(({ firing, number }) =>
      firing.traceIds.map((id, place) => ({ firing: number, place, trace_id: id.toLowerCase() })),
    );
    for (const part of inParts(evidence)) await tx.insertInto('alert_evidence').values(part).execute();
  }
  for (const { rule, firing, number } of all)
    await tx
      .updateTable('alert_rules')
      .set({ last_fired_at: firing.firedAt, evidence: firing.evidence, changed: number })
      .set(fromIncident(firing.incident))
      .where('id', '=', rule.alert.id)
      .execute();
  if (all.length > 0) {
    notify('rules');
    notify('notices');
  }
  await appendWanted(
    tx,
    notify,
    all.map(({ fact }) => fact),
  );
  return written.map((one) => one !== null);
}

/** Writes a test firing with its notices. @returns null if the user has no such rule */
export async function recordTest(
  tx: Transaction<Tables>,
  notify: Notify,
  userId: string,
  firing: TestFiring,
): Promise<AlertFiring | null> {
  const { first, found } = await findRules(tx, [firing]);
  const rule = found.get(firing.alertId.toLowerCase());
  if (rule === undefined || rule.userId !== userId.toLowerCase()) return null;
  const { eventId, firedAt, value, threshold, data } = firing;
  const body = envelope({ id: eventId, type: 'alert.fired', timestamp: firedAt }, data);
  const row = { id: eventId, fired_at: firedAt, value, threshold, resolved_at: firedAt };
  await tx
    .insertInto('alert_firings')
    .values({ ...row, number: first, alert_id: rule.alert.id, incident_id: eventId, body })
    .execute();
  const full = await fullChannels(tx, rule.alert.id, firedAt);
  const notices = noticesOf(rule, first, firedAt).map((notice) => suppressedIn(notice, full));
  await tx.insertInto('alert_notices').values(notices).execute();
  notify('notices');
  return { ...row, is_test: true, notifications: (await notificationsOf(tx, [first]))(first) };
}

/** Whether an envelope is that of a test. */
export function isTest(body: string): boolean {
  return (JSON.parse(body) as { readonly data: { readonly is_test?: boolean } }).data.is_test === true;
}

/** Channels through which an alert has sent {@link MAX_NOTICES_PER_HOUR} notices within an hour. */
async function fullChannels(
  tx: Transaction<Tables>,
  alertId: string,
  now: Micros,
): Promise<ReadonlySet<string>> {
  const from = now - MICROS_PER_HOUR;
  const rows = await tx
    .selectFrom('alert_firings')
    .innerJoin('alert_notices', 'alert_notices.firing', 'alert_firings.number')
    .select((row) => ['channel', row.fn.countAll<number>().as('count')])
    .where('alert_firings.alert_id', '=', alertId)
    .where('alert_firings.fired_at', '>', from)
    .where('alert_notices.status', '<>', 'suppressed')
    .groupBy('channel')
    .execute();
  return new Set(rows.flatMap(({ channel, count }) => (count >= MAX_NOTICES_PER_HOUR ? [channel] : [])));
}

function suppressedIn(row: Tables['alert_notices'], full: ReadonlySet<string>): Tables['alert_notices'] {
  return full.has(row.channel)
    ? { ...row, status: 'suppressed', detail: 'too_many_notices', due_at: null }
    : row;
}

/** Ends incidents. @returns for each whether it was written */
export async function recordResolutions(
  tx: Transaction<Tables>,
  notify: Notify,
  resolutions: readonly Resolution[],
): Promise<readonly boolean[]> {
  const { first, found } = await findRules(tx, resolutions);
  const facts: Fact[] = [];
  const written: boolean[] = [];
  for (const [i, resolution] of resolutions.entries()) {
    const rule = found.get(resolution.alertId.toLowerCase());
    const isOpen = rule?.incident?.id === resolution.incidentId;
    written.push(isOpen);
    if (rule === undefined || !isOpen) continue;
    const { id } = rule.alert;
    found.delete(id);
    await tx
      .updateTable('alert_rules')
      .set({ ...fromIncident(null), changed: first + i })
      .where('id', '=', id)
      .execute();
    await endIncident(tx, id, resolution.incidentId, resolution.resolvedAt);
    facts.push(resolvedFact(rule, resolution));
  }
  if (facts.length > 0) notify('rules');
  await appendWanted(tx, notify, facts);
  return written;
}

/** Marks the firings of an incident as resolved. */
export async function endIncident(
  tx: Transaction<Tables>,
  alertId: string,
  incidentId: string,
  resolvedAt: Micros,
): Promise<void> {
  await tx
    .updateTable('alert_firings')
    .set({ resolved_at: resolvedAt })
    .where('alert_id', '=', alertId)
    .where('incident_id', '=', incidentId)
    .execute();
}

/** A page of a rule's firings, the newest first. */
export async function listFirings(
  db: Kysely<Tables>,
  alertId: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<FiringPage> {
  const { count } = await db
    .selectFrom('alert_firings')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('alert_id', '=', alertId)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('alert_firings')
    .select(['number', 'id', 'fired_at', 'value', 'threshold', 'resolved_at', 'body'])
    .where('alert_id', '=', alertId)
    .orderBy('number', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const notifications = await notificationsOf(
    db,
    rows.map(({ number }) => number),
  );
  const items = rows.map(({ number, body, ...firing }) => ({
    ...firing,
    is_test: isTest(body),
    notifications: notifications(number),
  }));
  return { items, count };
}

/** The notifications of some firings, by firing number. */
export async function notificationsOf(
  db: Kysely<Tables>,
  firings: readonly number[],
): Promise<(firing: number) => AlertNotification[]> {
  if (firings.length === 0) return () => [];
  const notices = await db
    .selectFrom('alert_notices')
    .selectAll()
    .where('firing', 'in', firings)
    .orderBy('number')
    .execute();
  return (number) => notices.filter(({ firing }) => firing === number).map(toNotification);
}

/** Locks all rules. @returns the existing rules by id, and the first of the requested numbers */
async function findRules(
  tx: Transaction<Tables>,
  of: readonly { readonly alertId: string }[],
): Promise<{ readonly first: number; readonly found: Map<string, AlertRule> }> {
  const first = (await nextNumbers(tx, 'rule', of.length)) - of.length + 1;
  const found = new Map<string, AlertRule>();
  for (const some of inParts(of)) {
    const ids = some.map(({ alertId }) => alertId.toLowerCase());
    const rows = await tx.selectFrom('alert_rules').selectAll().where('id', 'in', ids).execute();
    for (const row of rows) found.set(row.id, toRule(row));
  }
  return { first, found };
}

/** Appends the subscribed facts of one type; must be the last step of a transaction. */
async function appendWanted(tx: Transaction<Tables>, notify: Notify, facts: readonly Fact[]): Promise<void> {
  const wanted: Fact[] = [];
  const isWantedOf = new Map<string, boolean>();
  for (const fact of facts) {
    const isKnown = isWantedOf.get(fact.tenant) ?? (await isWanted(tx, fact));
    isWantedOf.set(fact.tenant, isKnown);
    if (isKnown) wanted.push(fact);
  }
  if ((await appendFacts(tx, wanted)) > 0) notify('events');
}

function firedFact({ userId }: AlertRule, { eventId, firedAt, data }: DecidedFiring): Fact {
  return toFact(userId, eventId, { id: eventId, type: 'alert.fired', timestamp: firedAt }, data);
}

function resolvedFact({ userId }: AlertRule, { incidentId, resolvedAt, data }: Resolution): Fact {
  const id = uuidV7(resolvedAt / MICROS_PER_MS);
  return toFact(userId, incidentId, { id, type: 'alert.resolved', timestamp: resolvedAt }, data);
}

function toFact(
  tenant: string,
  of: string,
  head: { readonly id: string; readonly type: EventType; readonly timestamp: Micros },
  data: object,
): Fact {
  const body = envelope(head, data);
  return {
    fact: `${head.type}:${of}`,
    tenant,
    event: { ...head, organization_id: null, endpoint_id: null, body },
  };
}

function toFiringRow({
  rule,
  firing,
  number,
  fact,
}: {
  readonly rule: AlertRule;
  readonly firing: DecidedFiring;
  readonly number: number;
  readonly fact: Fact;
}): Tables['alert_firings'] {
  return {
    number,
    id: firing.eventId,
    alert_id: rule.alert.id,
    fired_at: firing.firedAt,
    value: firing.value,
    threshold: firing.threshold,
    incident_id: firing.incident.id,
    resolved_at: null,
    body: fact.event.body,
  };
}

function* inParts<One>(all: readonly One[]): Generator<readonly One[]> {
  for (let start = 0; start < all.length; start += ROWS_A_STATEMENT)
    yield all.slice(start, start + ROWS_A_STATEMENT);
}
