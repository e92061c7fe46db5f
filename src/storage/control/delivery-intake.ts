import type { Transaction } from 'kysely';
import { ALL_EVENTS, type EventType } from '../../signal/event.js';
import { uuidV7InOrder } from '../../signal/ids.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import { queued } from './delivery-state.js';
import { type StoredEvent, subjectOf } from '../contracts/events.js';
import type { Dialect } from './dialect.js';
import type { Tables } from './tables.js';
import { saveWaiting } from './waiting-rows.js';

/** Each takes at most six of the 32,766 parameters that SQLite allows in a statement. */
const ROWS_A_STATEMENT = 2000;

interface Subscriber {
  readonly id: string;
  readonly organization: string;
  readonly types: readonly string[];
}

/**
 * Enqueues events once, with a delivery for every active endpoint that subscribes to them.
 *
 * @returns the ids of the deliveries that were added
 */
export async function takeEvents(
  tx: Transaction<Tables>,
  dialect: Dialect,
  events: readonly StoredEvent[],
  now: Micros,
): Promise<readonly string[]> {
  const wanted = await wantedEvents(tx, dialect, events);
  const taken = await addEvents(
    tx,
    wanted.map(({ event }) => event),
    now,
  );
  const rows = wanted
    .filter(({ event }) => taken.has(event.id))
    .flatMap(({ event, endpoints }) =>
      endpoints.map(({ id, organization }) => ({
        event_id: event.id,
        endpoint_id: id,
        organization_id: organization,
      })),
    )
    .map((row, i) => ({
      ...row,
      id: uuidV7InOrder(now / MICROS_PER_MS, i),
      created_at: now,
      succeeded: 0,
    }));
  for (let start = 0; start < rows.length; start += ROWS_A_STATEMENT)
    await tx
      .insertInto('deliveries')
      .values(rows.slice(start, start + ROWS_A_STATEMENT))
      .execute();
  await saveWaiting(
    tx,
    rows.map(({ id, endpoint_id }) => ({
      deliveryId: id,
      endpointId: endpoint_id,
      waiting: queued(now),
      expiresAt: null,
    })),
  );
  return rows.map(({ id }) => id);
}

/** The subscribed events, without duplicates, and their endpoints. */
async function wantedEvents(tx: Transaction<Tables>, dialect: Dialect, events: readonly StoredEvent[]) {
  const subscribers = await subscribersOf(tx, dialect, events);
  const seen = new Set<string>();
  return events.flatMap(({ tenant, event }) => {
    const { id, type, endpoint_id, organization_id } = event;
    if (seen.has(id)) return [];
    seen.add(id);
    const endpoints = (subscribers.get(organization_id ?? tenant) ?? []).filter((endpoint) =>
      endpoint_id === null
        ? endpoint.types.includes(type) || endpoint.types.includes(ALL_EVENTS)
        : endpoint.id === endpoint_id,
    );
    return endpoints.length === 0 ? [] : [{ event, endpoints }];
  });
}

/** The active endpoints of each user and organization, locked: pausing or deleting one waits. */
async function subscribersOf(
  tx: Transaction<Tables>,
  dialect: Dialect,
  events: readonly StoredEvent[],
): Promise<ReadonlyMap<string, readonly Subscriber[]>> {
  const own = new Set(events.flatMap(({ event }) => event.organization_id ?? []));
  const found = [...own].map((organization) => ({ owner: organization, organization }));
  const users = [
    ...new Set(events.flatMap(({ tenant, event }) => (event.organization_id === null ? tenant : []))),
  ];
  for (let start = 0; start < users.length; start += ROWS_A_STATEMENT)
    found.push(
      ...(await tx
        .selectFrom('members')
        .select(['user_id as owner', 'organization_id as organization'])
        .where('user_id', 'in', users.slice(start, start + ROWS_A_STATEMENT))
        .execute()),
    );
  const organizations = [...new Set(found.map(({ organization }) => organization))];
  const ofOrganization = new Map<string, Subscriber[]>();
  for (let start = 0; start < organizations.length; start += ROWS_A_STATEMENT) {
    const query = tx
      .selectFrom('webhook_endpoints')
      .select(['id', 'organization_id', 'event_types'])
      .where('organization_id', 'in', organizations.slice(start, start + ROWS_A_STATEMENT))
      .where('is_active', '=', 1)
      .orderBy('id');
    for (const { id, organization_id, event_types } of await dialect.lock(query).execute()) {
      const types = event_types.split(' ');
      const subscriber = { id, organization: organization_id, types };
      ofOrganization.set(organization_id, [...(ofOrganization.get(organization_id) ?? []), subscriber]);
    }
  }
  const subscribers = new Map<string, Subscriber[]>();
  for (const { owner, organization } of found)
    subscribers.set(owner, [...(subscribers.get(owner) ?? []), ...(ofOrganization.get(organization) ?? [])]);
  return subscribers;
}

function subjectColumns(type: EventType, body: string) {
  const subject = subjectOf(type, body);
  return { subject_kind: subject?.kind ?? null, subject_id: subject?.id ?? null };
}

/** @returns the ids of the events that are new */
async function addEvents(
  tx: Transaction<Tables>,
  events: readonly StoredEvent['event'][],
  now: Micros,
): Promise<ReadonlySet<string>> {
  const taken = new Set<string>();
  for (let start = 0; start < events.length; start += ROWS_A_STATEMENT) {
    const added = await tx
      .insertInto('delivery_events')
      .values(
        events
          .slice(start, start + ROWS_A_STATEMENT)
          .map(({ id, type, body }) => ({ id, type, taken_at: now, body, ...subjectColumns(type, body) })),
      )
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .execute();
    for (const { id } of added) taken.add(id);
  }
  return taken;
}
