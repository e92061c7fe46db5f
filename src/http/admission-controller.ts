import type { UserLimits } from '../component/user-limits.js';
import { groupName } from './connections.js';
import type { HttpLimits } from './limits.js';
import { overloaded } from './problem.js';
import { SharedUse, NOBODY, Shares } from './shares.js';

/** A route's largest body and its compressed form must both fit into the share of one user. */
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
 * Limits the requests and body bytes of a listener and shares them among users. Requests without a user share the part of one
 * user, divided by address.
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

  /** @param bytes size of a route's largest body, which always fits, whatever the limits are */
  makeRoomFor(bytes: number): void {
    this.#bodies.atLeast(Math.ceil((BODIES * bytes) / this.#tools.users.share));
  }

  /** @param announcedBytes `Content-Length` of the body; 0 if unknown */
  arrive(announcedBytes: number): Permit {
    return new Permit(new SharedUse(this.#bodies), announcedBytes, this.#tools);
  }
}

/**
 * One request, from its head until the listener holds nothing for it. It occupies a slot when its user is known; a request
 * refused earlier occupies none.
 */
export class Permit {
  /** Holds the bytes of its body. */
  readonly bodies: SharedUse;
  readonly #announcedBytes: number;
  readonly #tools: Tools;
  #userId: string | undefined;
  /** The address group of a request without a user that occupies a slot. */
  #stranger: string | undefined;
  #isOver = false;

  constructor(bodies: SharedUse, announcedBytes: number, tools: Tools) {
    this.bodies = bodies;
    this.#announcedBytes = announcedBytes;
    this.#tools = tools;
  }

  /**
   * Accepts the request without a key.
   *
   * @throws HttpProblem 503 `overloaded` if all requests without a key, or those of its address, have used their share
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

  /** Continues the request without a user. It counts for its address and is not refused any more. */
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

  /**
   * Ends the request; a second call has no effect.
   *
   * @param bytes size of its body
   */
  leave(bytes: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#giveStrangersPlace();
    if (this.#userId === undefined) return;
    this.#tools.requests.give(this.#userId, 1);
    // The announced bytes were counted when the request arrived; they are read or discarded even if it is refused.
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
