import type { EventRecord, EventType } from '../../../signal/event.js';
import type { EventPageLimit } from '../../contracts/events.js';
import { EVENTS } from '../../schema/events-table.js';
import { selectList } from '../../schema/table.js';
import { narrowed, ofCommitsBetween, ofCommitsSince, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { EventPlace } from './event-place.js';
import { pageSize } from './page-size.js';

/** An event written with telemetry, and its place in the order. */
export interface TelemetryEvent extends EventPlace {
  readonly tenant: number;
  /** The length of the body. */
  readonly bytes: number;
  readonly event: EventRecord;
}

/** Events after a place, in order. */
export interface TelemetryEvents {
  readonly events: readonly TelemetryEvent[];
  /** Whether more events were already stored. */
  readonly hasMore: boolean;
}

/**
 * The telemetry events after a place. In addition to the result it reads only a few thousand narrow rows, at any position among
 * millions of events.
 *
 * @param limit at least one event
 */
export async function readStoredEvents(
  connection: Connection,
  capture: Capture,
  after: EventPlace,
  limit: EventPageLimit,
): Promise<TelemetryEvents> {
  const { commit, place } = after;
  const isBehind = `(seq > ${commit} OR place > ${place})`;
  const behind = narrowed(ofCommitsSince(commit), isBehind);
  const some = await someOf(connection, capture, behind, limit.events + 1);
  if (some.rows === 0) return { events: [], hasMore: false };
  const read = async (where: OfCommits): Promise<readonly TelemetryEvent[]> => {
    const rows = await connection.rows(
      `SELECT seq, place, tenant, ${selectList(EVENTS.wire)} FROM ${relation(capture, EVENTS, where)} ORDER BY seq, place`,
    );
    return rows.map(toEvent);
  };
  // An up-to-date reader finds only a few events, whose places are not needed.
  if (some.rows <= limit.events && some.bytes <= limit.bytes)
    return { events: await read(behind), hasMore: false };
  const places = await placesOf(
    connection,
    capture,
    narrowed(ofCommitsBetween(commit, some.lastCommit), isBehind),
    limit.events + 1,
  );
  const count = pageSize(
    places.map(({ bytes }) => bytes),
    limit,
  );
  const last = places[count - 1] ?? after;
  const upTo = `(seq < ${last.commit} OR place <= ${last.place})`;
  const events = await read(narrowed(ofCommitsBetween(commit, last.commit), `${isBehind} AND ${upTo}`));
  return { events, hasMore: count < places.length };
}

/**
 * Reads any `most` rows: the first `most` in order end no later than these. Rows are stored in the order of `seq`, so this stops
 * after enough rows, while sorting reads all of them: a reader may be millions of events behind.
 */
async function someOf(connection: Connection, capture: Capture, where: OfCommits, most: number) {
  const [row] = await connection.rows(
    `SELECT count(*) AS rows, max(seq) AS last, sum(bytes)::DOUBLE AS bytes FROM (SELECT seq, bytes FROM ${relation(capture, EVENTS, where)} LIMIT ${most})`,
  );
  return { rows: Number(row?.rows), lastCommit: Number(row?.last), bytes: Number(row?.bytes) };
}

/** The place of an event, and the length of its body. */
interface MeasuredPlace extends EventPlace {
  readonly bytes: number;
}

/** The first places, without the bodies. */
async function placesOf(
  connection: Connection,
  capture: Capture,
  where: OfCommits,
  most: number,
): Promise<MeasuredPlace[]> {
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
    bytes: Number(row.bytes),
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
