import type { Clock, Logger } from '../../component/telemetry.js';
import type { DeliveryFigures, DeliveryQueue } from '../../storage/delivery-queue.js';
import { MS_PER_HOUR } from '../../signal/time-units.js';

const RETENTION_TURN_MS = MS_PER_HOUR;
const FIGURES_TURN_MS = 15_000;

export interface UpkeepTools {
  readonly queue: Pick<DeliveryQueue, 'removeBefore' | 'figures'>;
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told whenever figures are read that know of something to send. */
  readonly onPending: () => void;
}

/** What is done beside sending, at once and again and again: old deliveries are removed, figures are read. */
export class Upkeep {
  readonly #tools: UpkeepTools;
  readonly #cancels = new Map<number, () => void>();
  #figures: DeliveryFigures = { pending: 0, overdueMs: 0 };
  #hasEnded = false;

  constructor(tools: UpkeepTools) {
    this.#tools = tools;
    const { queue, retentionMs, clock, logger, onPending } = tools;
    void this.#repeat(RETENTION_TURN_MS, async () => {
      const removed = await queue.removeBefore(clock.now() - retentionMs * 1000);
      if (removed > 0)
        logger.info({ deliveries: removed }, 'Removed webhook deliveries older than retention');
    });
    void this.#repeat(FIGURES_TURN_MS, async () => {
      this.#figures = await queue.figures(clock.now());
      if (this.#figures.pending > 0) onPending();
    });
  }

  /** As they were read last. */
  get figures(): DeliveryFigures {
    return this.#figures;
  }

  /** A turn under way goes on. */
  end(): void {
    this.#hasEnded = true;
    for (const cancel of this.#cancels.values()) cancel();
  }

  /** A failure is logged and waits for the next turn. */
  async #repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
    const { clock, logger } = this.#tools;
    try {
      await work();
    } catch (error) {
      if (!this.#hasEnded)
        logger.warn({ err: error }, 'The upkeep of webhook deliveries failed; it is repeated');
    }
    if (!this.#hasEnded)
      this.#cancels.set(
        everyMs,
        clock.after(everyMs, () => void this.#repeat(everyMs, work)),
      );
  }
}
