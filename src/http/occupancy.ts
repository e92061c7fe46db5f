import type { UserLimits } from '../component/user-limits.js';
import { groupName } from './connections.js';
import type { HttpLimits } from './limits.js';
import { overloaded } from './problem.js';
import { Holding, NOBODY, Shares } from './shares.js';

/** The largest body of a route has to fit with its compressed form into what one user may hold. */
const BODIES = 2;

/** What there was no more of: requests or bytes for a user, requests for those without a key. */
export type SpentShare = 'requests' | 'bytes' | 'public_requests';

interface Tools {
  readonly requests: Shares;
  readonly strangers: Shares;
  readonly users: UserLimits;
  readonly noteRefusal: (of: SpentShare) => void;
}

/**
 * What requests hold of a listener, shared out by user. Those without a user have together what one user may have, which
 * their addresses share in the same way.
 */
export class Occupancy {
  readonly #requests: Shares;
  /** Of {@link #requests}, those without a user, by address. */
  readonly #strangers: Shares;
  readonly #bodies: Shares;
  readonly #tools: Tools;

  /** @param noteRefusal told when somebody wants more than the own share */
  constructor(
    limits: Pick<HttpLimits, 'maxRequestsInFlight' | 'maxBodyBytesInFlight'>,
    users: UserLimits,
    noteRefusal: (of: SpentShare) => void,
  ) {
    const { share } = users;
    const { maxRequestsInFlight } = limits;
    this.#requests = new Shares({ max: maxRequestsInFlight, share });
    this.#strangers = new Shares({ max: Math.max(1, Math.floor(maxRequestsInFlight * share)), share });
    this.#bodies = new Shares({ max: limits.maxBodyBytesInFlight, share });
    this.#tools = { requests: this.#requests, strangers: this.#strangers, users, noteRefusal };
  }

  /** Whether there is no room for a request, whosever it is. */
  get isFull(): boolean {
    return !this.#requests.fits(NOBODY, 1);
  }

  get bodyBytes(): number {
    return this.#bodies.used;
  }

  /** @param bytes of the largest body of a route, whatever the limits say */
  makeRoomFor(bytes: number): void {
    this.#bodies.atLeast(Math.ceil((BODIES * bytes) / this.#tools.users.share));
  }

  /** @param announcedBytes of the body; 0 where it is not known */
  arrive(announcedBytes: number): Visit {
    return new Visit(new Holding(this.#bodies), announcedBytes, this.#tools);
  }
}

/**
 * One request, from its head until nothing is kept for it any more. It holds a place from when it is known whose it is: one
 * that is refused before has none.
 */
export class Visit {
  /** What its body is taken from. */
  readonly bodies: Holding;
  readonly #announcedBytes: number;
  readonly #tools: Tools;
  #userId: string | undefined;
  /** Of one without a user that has a place: the group of its address. */
  #stranger: string | undefined;
  #isOver = false;

  constructor(bodies: Holding, announcedBytes: number, tools: Tools) {
    this.bodies = bodies;
    this.#announcedBytes = announcedBytes;
    this.#tools = tools;
  }

  /**
   * It is answered without a key.
   *
   * @throws HttpProblem 503 `overloaded`, where all without a key, or those of its address, have their share
   */
  belongToNobody(address: string): void {
    const group = groupName(address);
    const { strangers, noteRefusal } = this.#tools;
    if (!strangers.fits(group, 1)) {
      noteRefusal('public_requests');
      throw overloaded();
    }
    this.#stay(group);
  }

  /** It goes on, and nobody has said whose it is: then it is nobody's, without being refused any more. */
  goesOn(address: () => string): void {
    if (this.#userId === undefined && this.#stranger === undefined) this.#stay(groupName(address()));
  }

  /**
   * Now it is known whose it is, before any of the body was taken. Without effect the second time.
   *
   * @throws HttpProblem 429 `rate_limited`, 503 `overloaded`
   */
  belongTo(userId: string): void {
    if (this.#userId !== undefined) return;
    const { requests, users, noteRefusal } = this.#tools;
    users.enter(userId);
    this.#giveStrangersPlace();
    if (!requests.take(userId, 1)) {
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

  /** The request needs nothing more. Without effect the second time. @param bytes that its body came to */
  leave(bytes: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#giveStrangersPlace();
    if (this.#userId === undefined) return;
    this.#tools.requests.give(this.#userId, 1);
    // Where it was refused, what was announced counts all the same: it is read and thrown away.
    this.#tools.users.spend(this.#userId, Math.max(0, bytes - this.#announcedBytes));
  }

  #stay(group: string): void {
    this.#stranger = group;
    this.#tools.requests.add(NOBODY, 1);
    this.#tools.strangers.add(group, 1);
  }

  #giveStrangersPlace(): void {
    if (this.#stranger === undefined) return;
    this.#tools.requests.give(NOBODY, 1);
    this.#tools.strangers.give(this.#stranger, 1);
    this.#stranger = undefined;
  }
}
