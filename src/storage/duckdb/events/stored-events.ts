import type { EventRecord, EventType } from '../../../signal/event.js';
import type { EventCursor, EventPageLimit } from '../../event-store.js';
import { EVENTS } from '../../events-table.js';
import { selectList } from '../../table.js';
import type { Connection, Row } from '../database.js';
import { relation } from '../relation.js';
import type { Capture } from '../segments.js';
import { pageSize } from './page-size.js';

/** An event that was written with telemetry. */
export interface TelemetryEvent {
  readonly tenant: number;
  /** Its place in the order of them. */
  readonly commit: number;
  readonly place: number;
  readonly event: EventRecord;
}

/** Events that follow a cursor, in their order. */
export interface TelemetryEvents {
  readonly events: readonly TelemetryEvent[];
  /** Whether more were there already. */
  readonly hasMore: boolean;
}

/**
 * The events of telemetry behind a place. Beside a few thousand narrow rows it reads only what it gives, wherever among
 * millions of events that is.
 *
 * @param limit at least one event
 */
export async function readStoredEvents(
  connection: Connection,
  capture: Capture,
  after: Pick<EventCursor, 'commit' | 'place'>,
  limit: EventPageLimit,
): Promise<TelemetryEvents> {
  const places = await placesBehind(connection, capture, after, limit.events + 1);
  const sizes = places.map(({ bytes }) => bytes);
  const count = pageSize(sizes, limit);
  const [first, last] = [places[0], places[count - 1]];
  if (first === undefined || last === undefined) return { events: [], hasMore: false };
  const where = `seq BETWEEN ${first.commit} AND ${last.commit} AND (seq > ${first.commit} OR place >= ${first.place}) AND (seq < ${last.commit} OR place <= ${last.place})`;
  const rows = await connection.rows(
    `SELECT seq, place, tenant, ${selectList(EVENTS.wire)} FROM ${relation(capture, EVENTS, where)} ORDER BY seq, place`,
  );
  return { events: rows.map(toEvent), hasMore: count < places.length };
}

/** Where an event is, and how long its body. */
interface EventPlace {
  readonly commit: number;
  readonly place: number;
  readonly bytes: number;
}

/** The first places behind a place, without the bodies. */
async function placesBehind(
  connection: Connection,
  capture: Capture,
  { commit, place }: Pick<EventCursor, 'commit' | 'place'>,
  most: number,
): Promise<EventPlace[]> {
  const behind = `seq >= ${commit} AND (seq > ${commit} OR place > ${place})`;
  // Any so many of them end no sooner than the first so many. They lie in the order of `seq`, so this ends where enough are
  // found, while to sort means to look at all of them: a reader may be millions behind.
  const [any] = await connection.rows(
    `SELECT count(*) AS rows, max(seq) AS last FROM (SELECT seq FROM ${relation(capture, EVENTS, behind)} LIMIT ${most})`,
  );
  if (Number(any?.rows) === 0) return [];
  const where = Number(any?.rows) < most ? behind : `${behind} AND seq <= ${Number(any?.last)}`;
  const rows = await connection.rows(
    `SELECT seq, place, bytes FROM ${relation(capture, EVENTS, where)} ORDER BY seq, place LIMIT ${most}`,
  );
  return rows.map((row) => ({ commit: Number(row.seq), place: Number(row.place), bytes: Number(row.bytes) }));
}

function toEvent(row: Row): TelemetryEvent {
  return {
    tenant: Number(row.tenant),
    commit: Number(row.seq),
    place: Number(row.place),
    event: {
      id: String(row.id),
      type: String(row.type) as EventType,
      timestamp: Number(row.timestamp),
      organization_id: null,
      endpoint_id: null,
      body: String(row.body),
    },
  };
}
