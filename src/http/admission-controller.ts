import type { UserLimits } from '../component/user-limits.js';
import { groupName } from './connections.js';
import type { HttpLimits } from './limits.js';
import { overloaded } from './problem.js';
import { SharedUse, NOBODY, Shares } from './shares.js';

/** The largest body of a route and its compressed form must both fit into the share of one user. */
const BODIES = 2;

/** The exhausted limit: requests or bytes of a user, or requests without a key. */
export type SpentShare = 'requests' | 'bytes' | 'public_requests';

interface Tools {
  readonly requests: Shares;
  readonly strangers: Shares;
  readonly users: UserLimits;
  readonly noteRefusal: (of: SpentShare) => void;
}

/**
 * Limits the requests and body bytes of a listener and shares them by user. Requests without a user share one user's part, divided by
 * address.
 */
export class AdmissionController {
  readonly #requests: Shares;
  /** Those of {@link #requests} without a user, by address. */
  readonly #strangers: Shares;
  readonly #bodies: Shares;
  readonly #tools: Tools;

  /** @param noteRefusal called when an owner exceeds its share */
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

  /** Whether the listener has no room for a request of any user. */
  get isFull(): boolean {
    return !this.#requests.fits(NOBODY, 1);
  }

  get bodyBytes(): number {
    return this.#bodies.used;
  }

  /** @param bytes of the largest body of a route, regardless of the limits */
  makeRoomFor(bytes: number): void {
    this.#bodies.atLeast(Math.ceil((BODIES * bytes) / this.#tools.users.share));
  }

  /** @param announcedBytes `Content-Length` of the body; 0 if unknown */
  arrive(announcedBytes: number): Permit {
    return new Permit(new SharedUse(this.#bodies), announcedBytes, this.#tools);
  }
}

/**
 * One request, from its head until the listener keeps nothing for it. It holds a place once its user is known; a request refused
 * earlier holds none.
 */
export class Permit {
  /** From which its body is taken. */
  readonly bodies: SharedUse;
  readonly #announcedBytes: number;
  readonly #tools: Tools;
  #userId: string | undefined;
  /** For one without a user that has a place: the group of its address. */
  #stranger: string | undefined;
  #isOver = false;

  constructor(bodies: SharedUse, announcedBytes: number, tools: Tools) {
    this.bodies = bodies;
    this.#announcedBytes = announcedBytes;
    this.#tools = tools;
  }

  /**
   * It is answered without a key.
   *
   * @throws HttpProblem 503 `overloaded`, where all requests without a key, or those of its address, have used up their share
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

  /** The request continues without a user: it counts for its address and is no longer refused for that. */
  goesOn(address: () => string): void {
    if (this.#userId === undefined && this.#stranger === undefined) this.#stay(groupName(address()));
  }

  /**
   * Assigns the request to a user, before any of the body is read. Later calls have no effect.
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
    // The announced bytes count even if the request is refused, because they are read and discarded.
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
