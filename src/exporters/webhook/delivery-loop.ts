import { DueLoop, type DueLoopTools } from '../../delivery/due-loop.js';
import type { DeliveryClaim, DeliveryStore, FinishedAttempt } from '../../storage/delivery-store.js';

export interface LoopOptions {
  readonly maxConcurrency: number;
  readonly perEndpoint: number;
  /** Failed attempts in a row that pause an endpoint. */
  readonly breakerThreshold: number;
}

type LoopTools = Pick<
  DueLoopTools<DeliveryClaim, FinishedAttempt>,
  'attempt' | 'clock' | 'random' | 'logger' | 'onStore'
> & {
  readonly store: Pick<DeliveryStore, 'claimDeliveries' | 'finishDeliveries' | 'watchDeliveries'>;
  readonly options: LoopOptions;
  /** Told the ids of the endpoints that the breaker paused. */
  readonly onPaused: (endpoints: readonly string[]) => void;
};

/** Claims deliveries that are due, has them attempted and records how that ended. */
export function startDeliveryLoop(tools: LoopTools): DueLoop<DeliveryClaim, FinishedAttempt> {
  const { store, options, clock, onPaused } = tools;
  const { maxConcurrency, perEndpoint, breakerThreshold } = options;
  const perOrganization = Math.ceil(maxConcurrency / 2);
  return new DueLoop({
    ...tools,
    sent: 'webhooks',
    maxConcurrency,
    find: async (limit, claims) => {
      const held = claims.map(({ delivery, lease }) => ({ delivery, lease }));
      const now = clock.now();
      const found = await store.claimDeliveries({ now, limit, perEndpoint, perOrganization, held });
      return { items: found.claims, nextDueAt: found.nextDueAt };
    },
    finish: async (finished) => {
      const paused = await store.finishDeliveries(finished, { now: clock.now(), breakerThreshold });
      if (paused.length > 0) onPaused(paused);
    },
    findsInOrder: true,
    watch: (listener) => store.watchDeliveries(listener),
  });
}
