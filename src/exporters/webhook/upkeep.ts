import type { Clock, Logger } from '../../component/telemetry.js';
import type { DeliveryStats, DeliveryQueue } from '../../storage/contracts/deliveries.js';
import { MS_PER_HOUR } from '../../signal/time-units.js';
import { repeat } from '../../telemetry/repeat.js';

const RETENTION_TURN_MS = MS_PER_HOUR;
const STATS_TURN_MS = 15_000;

export interface UpkeepTools {
  readonly queue: Pick<DeliveryQueue, 'removeBefore' | 'stats'>;
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the stats show pending deliveries. */
  readonly onPending: () => void;
}

/** Periodic work next to sending, first run at once: deletes old deliveries and reads stats. */
export class Upkeep {
  readonly #ends: readonly (() => void)[];
  #stats: DeliveryStats = { pending: 0, overdueMs: 0 };

  constructor(tools: UpkeepTools) {
    const { queue, retentionMs, clock, logger, onPending } = tools;
    const retention = {
      everyMs: RETENTION_TURN_MS,
      failed: 'Could not remove webhook deliveries older than retention; retrying',
    };
    const endRetention = repeat({ clock, logger }, retention, async () => {
      const removed = await queue.removeBefore(clock.now() - retentionMs * 1000);
      if (removed > 0)
        logger.info({ deliveries: removed }, 'Removed webhook deliveries older than retention');
    });
    const stats = {
      everyMs: STATS_TURN_MS,
      failed: 'Could not count pending webhook deliveries; retrying',
    };
    const endStats = repeat({ clock, logger }, stats, async () => {
      this.#stats = await queue.stats(clock.now());
      if (this.#stats.pending > 0) onPending();
    });
    this.#ends = [endRetention, endStats];
  }

  /** Stats of the last read. */
  get stats(): DeliveryStats {
    return this.#stats;
  }

  /** Stops the schedule; a run in progress continues. */
  end(): void {
    for (const end of this.#ends) end();
  }
}
