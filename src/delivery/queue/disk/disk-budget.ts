import type { RoomWatch } from '../room-watch.js';
import { UserShares } from '../user-shares.js';
import { recordBytes } from './frame.js';
import type { NewRecord } from './new-records.js';
import type { Segment } from './segment.js';

/** How much of the disk all queues of an exporter take, and may take. In bytes. */
export class DiskBudget {
  readonly max: number;
  readonly #room: RoomWatch | undefined;
  /** Batches written since the start: the users of earlier ones are not recorded here. */
  readonly #shares: UserShares;
  readonly #bySegment = new WeakMap<Segment, Map<string, number>>();
  #used = 0;
  #ofNobody = 0;

  /** @param room notified when no user may write more */
  constructor(max: number, room?: RoomWatch) {
    this.max = max;
    this.#room = room;
    this.#shares = new UserShares(max);
  }

  /** @param planned bytes about to be written */
  hasRoomFor(user: string, bytes: number, planned = 0): boolean {
    const crowdsOut = this.#shares.crowdsOut(user, bytes, this.#ofNobody + planned);
    return this.#used + planned + bytes <= this.max && !crowdsOut;
  }

  /** So many bytes were refused since there was no room for them. */
  noteRefused(bytes: number): void {
    this.#room?.refused(this.#used / this.max, (this.#used + bytes) / this.max);
  }

  /** A file of an earlier run. */
  found({ size }: Segment): void {
    this.#used += size;
    this.#ofNobody += size;
  }

  wrote(segment: Segment, records: readonly NewRecord[]): void {
    const users = this.#bySegment.get(segment) ?? new Map<string, number>();
    this.#bySegment.set(segment, users);
    for (const { about, head } of records) {
      const bytes = recordBytes(head);
      this.#used += bytes;
      this.#shares.add(about.tenant, bytes);
      users.set(about.tenant, (users.get(about.tenant) ?? 0) + bytes);
    }
  }

  /** A file was removed or is no longer owned. */
  released(segment: Segment): void {
    this.#used -= segment.size;
    const users = this.#bySegment.get(segment);
    if (users === undefined) this.#ofNobody -= segment.size;
    for (const [user, bytes] of users ?? []) this.#shares.add(user, -bytes);
    this.#bySegment.delete(segment);
    this.#room?.changed(this.#used / this.max);
  }
}
