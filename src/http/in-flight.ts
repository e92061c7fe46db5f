import { Shares } from './shares.js';
import { waitFor } from '../telemetry/wait-for.js';

/**
 * Limits the requests and body bytes that wait for the pipeline, shared among users. A single request larger than the byte limit
 * is admitted alone, because bodies have their own limit.
 */
export class InFlight {
  readonly #requests: Shares;
  readonly #bytes: Shares;
  #onIdle: (() => void)[] = [];

  constructor(limits: { readonly requests: number; readonly bytes: number }) {
    this.#requests = new Shares({ max: limits.requests, share: 1 });
    this.#bytes = new Shares({ max: limits.bytes, share: 1 });
  }

  /**
   * Sets the share of each user.
   *
   * @param share of the total that one user may hold; 1 by default
   */
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

  /** Whether another request of a user with this many bytes must be refused. */
  isFull(userId: string, bytes: number): boolean {
    if (this.requests === 0) return false;
    return !this.#requests.fits(userId, 1) || !this.#bytes.fits(userId, bytes);
  }

  /** Counts a request until the returned function is called. */
  enter(userId: string, bytes: number): () => void {
    this.#requests.add(userId, 1);
    this.#bytes.add(userId, bytes);
    return () => {
      this.#leave(userId, bytes);
    };
  }

  #leave(userId: string, bytes: number): void {
    this.#requests.give(userId, 1);
    this.#bytes.give(userId, bytes);
    if (this.requests > 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when nothing is in progress, or at the deadline. */
  async idle(deadline: AbortSignal): Promise<void> {
    if (this.requests === 0) return;
    await waitFor(new Promise<void>((resolve) => this.#onIdle.push(resolve)), deadline);
  }
}
