import { DueLoop, type DueLoopTools } from '../../delivery/senders/due-loop.js';
import type {
  DeliveryClaim,
  DeliveryQueue,
  FinishedAttempt,
  SenderLimits,
} from '../../storage/contracts/deliveries.js';
import { CLAIM_MS, HeldClaims } from './held-claims.js';

export interface LoopOptions {
  readonly limits: SenderLimits;
  /** Consecutive failed attempts after which an endpoint is paused. */
  readonly breakerThreshold: number;
}

type LoopTools = Pick<
  DueLoopTools<DeliveryClaim, FinishedAttempt>,
  'attempt' | 'watch' | 'clock' | 'random' | 'logger' | 'onStore' | 'onUnderWay'
> & {
  readonly queue: Pick<DeliveryQueue, 'claim' | 'renew' | 'finish'>;
  readonly options: LoopOptions;
  /** Receives the ids of endpoints that the breaker paused. */
  readonly onPaused: (endpoints: readonly string[]) => void;
};

/** Claims deliveries that are due, has them attempted and records how that ended. It is woken when more may be due. */
export class DeliveryLoop {
  readonly #held: HeldClaims;
  readonly #loop: DueLoop<DeliveryClaim, FinishedAttempt>;

  /** Begins at once. */
  constructor(tools: LoopTools) {
    const { queue, options, clock, attempt, onPaused } = tools;
    const { limits, breakerThreshold } = options;
    const { perEndpoint, perOrganization, perHost } = limits;
    const held = new HeldClaims(tools);
    this.#held = held;
    this.#loop = new DueLoop({
      ...tools,
      sent: 'webhooks',
      maxConcurrency: limits.limit,
      find: async (limit) => {
        const request = { now: clock.now(), limit, perEndpoint, perOrganization, perHost, leaseMs: CLAIM_MS };
        const found = await queue.claim(request);
        held.add(found.claims);
        return { items: found.claims, nextDueAt: found.nextDueAt };
      },
      attempt: async (claim, signal) => {
        const result = await attempt(claim, signal);
        if (result === null) held.remove([claim]);
        return result;
      },
      finish: async (finished) => {
        const paused = await queue.finish(finished, { now: clock.now(), breakerThreshold });
        held.remove(finished);
        if (paused.length > 0) onPaused(paused);
      },
    });
  }

  /** Attempts in progress, including those whose result is not recorded yet. */
  get underWay(): number {
    return this.#loop.underWay;
  }

  /** Says that more may be due. */
  wake(): void {
    this.#loop.wake();
  }

  /** Stops claiming and waits for attempts in progress. Aborts them at the deadline. */
  async stop(deadline: AbortSignal): Promise<void> {
    await this.#loop.stop(deadline);
    this.#held.end();
  }
}

/** So many attempts at once: at most half of them to the endpoints of one organization, and a quarter to one host. */
export function limitsOf(maxConcurrency: number, perEndpoint: number): SenderLimits {
  return {
    limit: maxConcurrency,
    perEndpoint,
    perOrganization: Math.ceil(maxConcurrency / 2),
    perHost: Math.max(perEndpoint, Math.ceil(maxConcurrency / 4)),
  };
}
