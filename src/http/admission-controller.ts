import type { UserLimits } from '../component/user-limits.js';
import { groupName } from './connections.js';
import type { HttpLimits } from './limits.js';
import { overloaded } from './problem.js';
import { Holding, NOBODY, Shares } from './shares.js';

/** The largest body of a route has to fit with its compressed form into what one user may hold. */
const BODIES = 2;

/** What had run out: requests or bytes for a user, or requests for those without a key. */
export type SpentShare = 'requests' | 'bytes' | 'public_requests';

interface Tools {
  readonly requests: Shares;
  readonly strangers: Shares;
  readonly users: UserLimits;
  readonly noteRefusal: (of: SpentShare) => void;
}

/**
 * What requests hold of a listener, shared out by user. Requests without a user together have what one user may have, and their
 * addresses share that in the same way.
 */
export class AdmissionController {
  readonly #requests: Shares;
  /** Those of {@link #requests} without a user, by address. */
  readonly #strangers: Shares;
  readonly #bodies: Shares;
  readonly #tools: Tools;

  /** @param noteRefusal called when somebody wants more than its own share */
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

  /** Whether there is no room for a request, whoever sends it. */
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
  arrive(announcedBytes: number): Permit {
    return new Permit(new Holding(this.#bodies), announcedBytes, this.#tools);
  }
}

/**
 * One request, from its head until nothing is kept for it any more. It holds a place once it is known whose it is: one that is
 * refused before has none.
 */
export class Permit {
  /** From which its body is taken. */
  readonly bodies: Holding;
  readonly #announcedBytes: number;
  readonly #tools: Tools;
  #userId: string | undefined;
  /** For one without a user that has a place: the group of its address. */
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

  /** It goes on, and nobody has said whose it is: then it belongs to nobody, and is no longer refused for that. */
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
    // What was announced counts even where it was refused, because it is read and thrown away.
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
