import type { Clock } from '../../../component/telemetry.js';
import { TokenBuckets } from '../../../component/token-buckets.js';
import type { ReloadSize } from './run-size.js';

/** Of so many long runs it is known that they were in memory. */
const MOST_KNOWN = 10_000;

/**
 * Long runs that were forgotten and are loaded again. Somebody who writes to more of them in turn than are remembered would
 * have one loaded by each commit, and everybody's commits would wait for it: what is loaded again is limited by user.
 */
export class Reloads {
  /** Keys of long runs that were in memory since the start, those that came last at the end. */
  readonly #known = new Set<string>();
  readonly #loaded: TokenBuckets;
  readonly #long: number;

  constructor(size: ReloadSize, clock: Clock) {
    this.#long = size.long;
    this.#loaded = new TokenBuckets(size, clock);
  }

  /** A run is in memory. @param key of the tenant and the trace: `idKey` */
  isHere(key: string, spans: number): void {
    if (spans <= this.#long || this.#known.has(key)) return;
    this.#known.add(key);
    if (this.#known.size <= MOST_KNOWN) return;
    const [oldest] = this.#known;
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  /**
   * A run was loaded.
   *
   * @returns whether that was once too often, so that it must not be necessary again
   */
  loaded(key: string, tenant: number, spans: number): boolean {
    if (spans <= this.#long) return false;
    if (!this.#known.has(key)) {
      this.isHere(key, spans);
      return false;
    }
    const owner = String(tenant);
    if (this.#loaded.secondsUntil(owner, 1) > 0) return true;
    this.#loaded.take(owner, spans);
    return false;
  }
}
