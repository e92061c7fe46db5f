import type { EventPageLimit, FactPage } from '../../contracts/events.js';
import { LAST_PLACE, type EventPlace } from './event-place.js';
import type { EventReads } from './event-reads.js';

/** Before all commits. */
const BEGINNING: EventPlace = { commit: 0, place: LAST_PLACE };

/** Like `OutboxSource.readFacts`, without waiting. */
export async function readFacts(
  events: EventReads,
  mark: string | null,
  limit: EventPageLimit,
): Promise<FactPage> {
  const after = mark === null ? BEGINNING : placeOf(mark);
  const { events: found } = await events.read(after, limit);
  const { commit, place } = found.at(-1) ?? after;
  return { facts: found.map(({ tenant, event }) => ({ tenant, event })), mark: `${commit}.${place}` };
}

/** Whether any fact up to and including a commit follows a mark. */
export async function factsStore(events: EventReads, mark: string | null, commit: number): Promise<boolean> {
  const { facts, mark: first } = await readFacts(events, mark, { events: 1, bytes: 0 });
  return facts.length > 0 && placeOf(first).commit <= commit;
}

function placeOf(mark: string): EventPlace {
  const [, commit, place] = /^(\d+)\.(\d+)$/.exec(mark) ?? [];
  if (commit === undefined || place === undefined) throw new RangeError('this is no mark of a store');
  return { commit: Number(commit), place: Number(place) };
}
