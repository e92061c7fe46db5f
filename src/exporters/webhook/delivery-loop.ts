import { DueLoop, type DueLoopTools } from '../../delivery/senders/due-loop.js';
import type {
  DeliveryClaim,
  DeliveryStore,
  FinishedAttempt,
  SenderLimits,
} from '../../storage/delivery-store.js';

export interface LoopOptions {
  readonly limits: SenderLimits;
  /** Failed attempts in a row that pause an endpoint. */
  readonly breakerThreshold: number;
}

type LoopTools = Pick<
  DueLoopTools<DeliveryClaim, FinishedAttempt>,
  'attempt' | 'clock' | 'random' | 'logger' | 'onStore' | 'onUnderWay'
> & {
  readonly queue: Pick<DeliveryStore, 'claimDeliveries' | 'finishDeliveries'>;
  readonly options: LoopOptions;
  /** Told the ids of the endpoints that the breaker paused. */
  readonly onPaused: (endpoints: readonly string[]) => void;
};

/** Claims deliveries that are due, has them attempted and records how that ended. It is woken when more may be due. */
export function startDeliveryLoop(tools: LoopTools): DueLoop<DeliveryClaim, FinishedAttempt> {
  const { queue, options, clock, onPaused } = tools;
  const { limits, breakerThreshold } = options;
  const { perEndpoint, perOrganization } = limits;
  return new DueLoop({
    ...tools,
    sent: 'webhooks',
    maxConcurrency: limits.limit,
    find: async (limit, claims) => {
      const held = claims.map(({ delivery, lease }) => ({ delivery, lease }));
      const now = clock.now();
      const found = await queue.claimDeliveries({ now, limit, perEndpoint, perOrganization, held });
      return { items: found.claims, nextDueAt: found.nextDueAt };
    },
    finish: async (finished) => {
      const paused = await queue.finishDeliveries(finished, { now: clock.now(), breakerThreshold });
      if (paused.length > 0) onPaused(paused);
    },
    findsInOrder: true,
  });
}

/** So many attempts at once, half of them to the endpoints of one organization at most. */
export function limitsOf(maxConcurrency: number, perEndpoint: number): SenderLimits {
  return { limit: maxConcurrency, perEndpoint, perOrganization: Math.ceil(maxConcurrency / 2) };
}
