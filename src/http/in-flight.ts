import { Shares } from './shares.js';
import { waitFor } from '../telemetry/wait-for.js';

/**
 * Limits the requests and body bytes waiting for the pipeline, shared by user. A single request larger than the byte limit is admitted
 * alone, because bodies have their own limit.
 */
export class InFlight {
  readonly #requests: Shares;
  readonly #bytes: Shares;
  #onIdle: (() => void)[] = [];

  constructor(limits: { readonly requests: number; readonly bytes: number }) {
    this.#requests = new Shares({ max: limits.requests, share: 1 });
    this.#bytes = new Shares({ max: limits.bytes, share: 1 });
  }

  /** @param share of everything that one user may hold; before this is called it is all of it */
  shareOut(share: number): void {
    this.#requests.shareOut(share);
    this.#bytes.shareOut(share);
  }

  get requests(): number {
    return this.#requests.used;
  }

  get bytes(): number {
    return this.#bytes.used;
  }

  /** Whether a further request of a user with this many bytes has to be refused. */
  isFull(userId: string, bytes: number): boolean {
    if (this.requests === 0) return false;
    return !this.#requests.fits(userId, 1) || !this.#bytes.fits(userId, bytes);
  }

  enter(userId: string, bytes: number): void {
    this.#requests.add(userId, 1);
    this.#bytes.add(userId, bytes);
  }

  leave(userId: string, bytes: number): void {
    this.#requests.give(userId, 1);
    this.#bytes.give(userId, bytes);
    if (this.requests > 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when nothing is in progress any more, or at the deadline. */
  async idle(deadline: AbortSignal): Promise<void> {
    if (this.requests === 0) return;
    await waitFor(new Promise<void>((resolve) => this.#onIdle.push(resolve)), deadline);
  }
}
