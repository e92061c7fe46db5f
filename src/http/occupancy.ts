import type { UserLimits } from '../component/user-limits.js';
import type { HttpLimits } from './limits.js';
import { overloaded } from './problem.js';
import { Holding, Shares } from './shares.js';

/** The largest body of a route has to fit with its compressed form into what one user may hold. */
const BODIES = 2;

interface Tools {
  readonly users: UserLimits;
  readonly noteRefusal: (of: 'requests' | 'bytes') => void;
}

/** What requests hold of a listener, shared out by user. */
export class Occupancy {
  readonly #requests: Shares;
  readonly #bodies: Shares;
  readonly #users: UserLimits;
  readonly #noteRefusal: (of: 'requests' | 'bytes') => void;

  /** @param noteRefusal told when a user wants more than the own share */
  constructor(
    limits: Pick<HttpLimits, 'maxRequestsInFlight' | 'maxBodyBytesInFlight'>,
    users: UserLimits,
    noteRefusal: (of: 'requests' | 'bytes') => void,
  ) {
    const { share } = users;
    this.#requests = new Shares({ max: limits.maxRequestsInFlight, share });
    this.#bodies = new Shares({ max: limits.maxBodyBytesInFlight, share });
    this.#users = users;
    this.#noteRefusal = noteRefusal;
  }

  get bodyBytes(): number {
    return this.#bodies.used;
  }

  /** @param bytes of the largest body of a route, whatever the limits say */
  makeRoomFor(bytes: number): void {
    this.#bodies.atLeast(Math.ceil((BODIES * bytes) / this.#users.share));
  }

  /** @param announcedBytes of the body; 0 where it is not known */
  arrive(announcedBytes: number): Visit {
    return new Visit(this.#requests, new Holding(this.#bodies), announcedBytes, {
      users: this.#users,
      noteRefusal: this.#noteRefusal,
    });
  }
}

/** One request, from its head to the end of its answer. */
export class Visit {
  /** What its body is taken from. */
  readonly bodies: Holding;
  readonly #requests: Shares;
  readonly #announcedBytes: number;
  readonly #tools: Tools;
  #userId: string | undefined;

  constructor(requests: Shares, bodies: Holding, announcedBytes: number, tools: Tools) {
    this.#requests = requests;
    this.bodies = bodies;
    this.#announcedBytes = announcedBytes;
    this.#tools = tools;
  }

  /**
   * Now it is known whose it is, before any of the body was taken. Without effect the second time.
   *
   * @throws HttpProblem 429 `rate_limited`, 503 `overloaded`
   */
  belongTo(userId: string): void {
    if (this.#userId !== undefined) return;
    const { users, noteRefusal } = this.#tools;
    users.enter(userId);
    if (!this.#requests.take(userId, 1)) {
      noteRefusal('requests');
      throw overloaded();
    }
    this.#userId = userId;
    this.bodies.belongTo(userId);
    users.spend(userId, this.#announcedBytes);
    if (this.bodies.fits(this.#announcedBytes)) return;
    noteRefusal('bytes');
    throw overloaded();
  }

  /** The request is over. @param bytes that its body came to */
  leave(bytes: number): void {
    if (this.#userId === undefined) return;
    this.#requests.give(this.#userId, 1);
    // Where it was refused, what was announced counts all the same: it is read and thrown away.
    this.#tools.users.spend(this.#userId, Math.max(0, bytes - this.#announcedBytes));
  }
}
