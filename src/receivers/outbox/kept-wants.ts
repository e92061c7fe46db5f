import type { Clock, Logger } from '../../component/telemetry.js';
import { pause } from '../../telemetry/pause.js';
import type { EventType } from '../../signal/event.js';
import { MICROS_PER_MS, MS_PER_MINUTE } from '../../signal/time-units.js';
import type { EventLog } from '../../storage/event-log.js';
import type { StoreHealth } from './store-health.js';

/** How long a want holds, and how long after it was said it is said again; sooner where that failed. */
const WANT_MS = 15 * MS_PER_MINUTE;
const AGAIN_MS = 5 * MS_PER_MINUTE;
const RETRY_MS = 10_000;

export interface WantTools {
  readonly events: Pick<EventLog, 'want'>;
  /** Names the process and the receiver. */
  readonly owner: string;
  readonly types: readonly (EventType | '*')[];
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Says which types are to be written for everybody, again and again. It is never taken back: what is still stored while the receiver
 * stops is for its next start.
 */
export class KeptWants {
  readonly #tools: WantTools;
  readonly #stop = new AbortController();

  private constructor(tools: WantTools) {
    this.#tools = tools;
  }

  /** Resolves when the types are wanted. @throws where the store does not take it */
  static async begin(tools: WantTools): Promise<KeptWants> {
    const wants = new KeptWants(tools);
    if (tools.types.length === 0) return wants;
    await wants.#say();
    void wants.#repeat();
    return wants;
  }

  end(): void {
    this.#stop.abort();
  }

  async #repeat(): Promise<void> {
    const { clock, logger } = this.#tools;
    for (let waitMs = AGAIN_MS; ;) {
      await pause(clock, waitMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      try {
        await this.#say();
        waitMs = AGAIN_MS;
      } catch (error) {
        logger.warn(
          { err: error },
          'The control store did not take which events are wanted; it is told again',
        );
        waitMs = RETRY_MS;
      }
    }
  }

  async #say(): Promise<void> {
    const { events, owner, types, health, clock } = this.#tools;
    await health.ask('wanting', () => events.want(owner, types, clock.now() + WANT_MS * MICROS_PER_MS));
  }
}
