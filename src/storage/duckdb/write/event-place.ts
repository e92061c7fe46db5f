/** The position of an event in the order of telemetry events. */
export interface EventPlace {
  readonly commit: number;
  /** Its index within the commit, from 0. */
  readonly place: number;
}

/** A place after all events of a commit. */
export const LAST_PLACE = 2 ** 31 - 1;

export function isBehind(one: EventPlace, other: EventPlace): boolean {
  return one.commit > other.commit || (one.commit === other.commit && one.place > other.place);
}
