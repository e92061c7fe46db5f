/** Where an event is among those of telemetry. */
export interface EventPlace {
  readonly commit: number;
  /** Of the commit's events, from 0. */
  readonly place: number;
}

/** Behind all events of a commit. */
export const LAST_PLACE = 2 ** 31 - 1;

export function isBehind(one: EventPlace, other: EventPlace): boolean {
  return one.commit > other.commit || (one.commit === other.commit && one.place > other.place);
}
