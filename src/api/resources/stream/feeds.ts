import { randomBytes } from 'node:crypto';
import { HttpProblem } from '../../../component/http.js';
import type { Clock } from '../../../component/telemetry.js';
import type { ChangeFeed } from '../../../storage/contracts/telemetry-writer.js';
import { UserFeed } from './user-feed.js';

/** Maximum number of concurrent streams per user. */
export const MOST_STREAMS = 8;
/** How long changes of a user are collected after its last stream ends, for a reconnecting client. */
const LINGER_MS = 60_000;

interface Desk {
  readonly feed: UserFeed;
  streams: number;
  cancelEnd: () => void;
}

/** One of a user's streams. */
export interface Seat {
  readonly feed: UserFeed;
  /** Does nothing when called again. */
  leave(): void;
}

/** Change notifications for users with open streams; others are ignored. */
export class UserFeeds {
  /** Identifies this process: change numbers are valid in it only. */
  readonly era = randomBytes(6).toString('hex');
  readonly #arrivals: ChangeFeed;
  readonly #clock: Clock;
  readonly #desks = new Map<string, Desk>();

  constructor(arrivals: ChangeFeed, clock: Clock) {
    this.#arrivals = arrivals;
    this.#clock = clock;
  }

  /** @throws HttpProblem 429 if the user has too many streams */
  take(userId: string): Seat {
    const desk = this.#desks.get(userId) ?? this.#open(userId);
    if (desk.streams >= MOST_STREAMS)
      throw new HttpProblem(
        429,
        'too_many_streams',
        `A user can have ${MOST_STREAMS} event streams: close another one, or use one stream for all topics.`,
        { headers: { 'retry-after': '5' } },
      );
    desk.streams += 1;
    desk.cancelEnd();
    let isTaken = true;
    return {
      feed: desk.feed,
      leave: () => {
        if (!isTaken) return;
        isTaken = false;
        desk.streams -= 1;
        if (desk.streams === 0) this.#closeLater(userId, desk);
      },
    };
  }

  #open(userId: string): Desk {
    const desk = { feed: new UserFeed(this.#arrivals, userId), streams: 0, cancelEnd: () => undefined };
    this.#desks.set(userId, desk);
    return desk;
  }

  #closeLater(userId: string, desk: Desk): void {
    desk.cancelEnd = this.#clock.after(LINGER_MS, () => {
      desk.feed.close();
      this.#desks.delete(userId);
    });
  }
}
