import type { Clock } from './telemetry.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';

/** From this many buckets on, full ones, which carry no information, are thrown away from time to time. */
const MIN_SWEEP = 1024;

/** The bucket of owners without one of their own. No owner has this name. */
const SHARED = ' shared ';

interface Bucket {
  tokens: number;
  /** When it held that many, in microseconds. */
  at: number;
}

/**
 * A bucket of tokens for each owner, which fills at a rate, up to a burst. More may be taken than it holds, and it then has to
 * fill again.
 */
export class TokenBuckets {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Clock;
  readonly #maxOwners: number;
  readonly #buckets = new Map<string, Bucket>();
  #sweepAt = MIN_SWEEP;

  /** @param limits `maxOwners`: so many have a bucket of their own while it is not full; all further ones share one. Absent: all */
  constructor(
    limits: { readonly perSecond: number; readonly burst: number; readonly maxOwners?: number },
    clock: Clock,
  ) {
    this.#perSecond = limits.perSecond;
    this.#burst = limits.burst;
    this.#maxOwners = limits.maxOwners ?? Infinity;
    this.#clock = clock;
  }

  /** Seconds until that many tokens are available, at most the burst; 0 if they are available now. */
  secondsUntil(owner: string, tokens: number): number {
    return Math.max(0, (tokens - this.#bucket(owner).tokens) / this.#perSecond);
  }

  /** Takes tokens, even those that are not there yet. */
  take(owner: string, tokens: number): void {
    this.#bucket(owner).tokens -= tokens;
  }

  #bucket(owner: string): Bucket {
    const at = this.#clock.now();
    const known = this.#buckets.get(owner);
    if (known === undefined) {
      if (this.#buckets.size >= Math.min(this.#sweepAt, this.#maxOwners)) this.#sweep(at);
      if (this.#buckets.size >= this.#maxOwners && owner !== SHARED) return this.#bucket(SHARED);
      const bucket = { tokens: this.#burst, at };
      this.#buckets.set(owner, bucket);
      return bucket;
    }
    known.tokens = this.#filled(known, at);
    known.at = at;
    return known;
  }

  /** A clock that is set back fills nothing, and takes nothing away. */
  #filled({ tokens, at }: Bucket, now: number): number {
    const seconds = Math.max(0, now - at) / MICROS_PER_SECOND;
    return Math.min(this.#burst, tokens + seconds * this.#perSecond);
  }

  #sweep(now: number): void {
    for (const [owner, bucket] of this.#buckets)
      if (this.#filled(bucket, now) >= this.#burst) this.#buckets.delete(owner);
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#buckets.size);
  }
}
