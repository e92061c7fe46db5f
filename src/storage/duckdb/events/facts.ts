import type { EventRecord } from '../../../signal/event.js';
import type { EventPageLimit } from '../../event-log.js';
import { LAST_PLACE, type EventPlace } from './event-place.js';
import type { EventReads } from './event-reads.js';

/** A fact of telemetry as the store thread knows it, with a number for its user. */
export interface NumberedFact {
  readonly tenant: number;
  readonly event: EventRecord;
}

/** Facts that follow a mark, in the order of their commits. */
export interface FactPage {
  readonly facts: readonly NumberedFact[];
  /** The mark behind the last of them. Only the store that made it knows what it means. */
  readonly mark: string;
  /** Whether there were more already. */
  readonly hasMore: boolean;
}

/** Before all commits. */
const BEGINNING: EventPlace = { commit: 0, place: LAST_PLACE };

/**
 * The facts of telemetry behind a mark.
 *
 * @param mark null for all that the store has
 * @throws RangeError where the mark was not made by a store
 */
export async function readFacts(
  events: EventReads,
  mark: string | null,
  limit: EventPageLimit,
): Promise<FactPage> {
  const after = mark === null ? BEGINNING : placeOf(mark);
  const { events: found, hasMore } = await events.read(after, limit);
  const { commit, place } = found.at(-1) ?? after;
  return {
    facts: found.map(({ tenant, event }) => ({ tenant, event })),
    mark: `${commit}.${place}`,
    hasMore,
  };
}

function placeOf(mark: string): EventPlace {
  const [, commit, place] = /^(\d+)\.(\d+)$/.exec(mark) ?? [];
  if (commit === undefined || place === undefined) throw new RangeError('this is no mark of a store');
  return { commit: Number(commit), place: Number(place) };
}
