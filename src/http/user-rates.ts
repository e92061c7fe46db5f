import { HttpProblem } from '../component/http.js';
import type { Clock, Counter, Meter } from '../component/telemetry.js';
import type { UserLimits } from '../component/user-limits.js';
import { TokenBuckets } from '../component/token-buckets.js';

/** Default share of one user. */
const DEFAULT_USER_SHARE = 0.5;

export interface UserRatesSettings {
  readonly share: number;
  readonly storedBytes: number;
  /** Undefined: no limit. */
  readonly requests: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly bytes: { readonly perSecond: number; readonly burst: number } | undefined;
}

/** The limits of users for all listeners of a daemon. */
export class UserRates implements UserLimits {
  readonly share: number;
  readonly storedBytes: number;
  readonly #clock: Clock;
  #requests: TokenBuckets | undefined;
  #bytes: TokenBuckets | undefined;
  readonly #limited: Counter;

  constructor(
    settings: UserRatesSettings,
    { clock, meter }: { readonly clock: Clock; readonly meter: Meter },
  ) {
    this.share = settings.share;
    this.storedBytes = settings.storedBytes;
    this.#clock = clock;
    this.use(settings);
    this.#limited = meter.counter('rate_limited_requests_total', {
      description: 'Requests refused because the user exceeded a request or byte rate.',
      labelNames: ['limit'],
    });
  }

  /** Applies other rates; every user then has its whole burst again. */
  use({ requests, bytes }: Pick<UserRatesSettings, 'requests' | 'bytes'>): void {
    this.#requests = requests && new TokenBuckets(requests, this.#clock);
    this.#bytes = bytes && new TokenBuckets(bytes, this.#clock);
  }

  enter(userId: string): void {
    this.#check('requests', this.#requests?.secondsUntil(userId, 1));
    this.#check('bytes', this.#bytes?.secondsUntil(userId, 1));
    this.#requests?.take(userId, 1);
  }

  spend(userId: string, bytes: number): void {
    this.#bytes?.take(userId, bytes);
  }

  /** @throws HttpProblem 429 */
  #check(limit: 'requests' | 'bytes', seconds = 0): void {
    if (seconds === 0) return;
    this.#limited.add(1, { limit });
    throw new HttpProblem(
      429,
      'rate_limited',
      `This user sends more ${limit} per second than allowed. Nothing was stored; send the request again later.`,
      { headers: { 'retry-after': String(Math.ceil(seconds)) } },
    );
  }
}

/** Limits of listeners without configuration: shares, but no rates. */
export const NO_RATES: UserLimits = {
  share: DEFAULT_USER_SHARE,
  storedBytes: 0,
  enter: () => undefined,
  spend: () => undefined,
};
