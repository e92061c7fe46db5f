import { ConsumeError } from '../../component/consume-error.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { pause } from '../../telemetry/pause.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import type { EventType } from '../../signal/event.js';
import { MICROS_PER_MS, MS_PER_MINUTE } from '../../signal/time-units.js';
import type { EventLog } from '../../storage/contracts/events.js';
import type { StoreHealth } from './store-health.js';

/** How long a request for event types is valid, and after what time it is renewed; sooner after a failure. */
const WANT_MS = 15 * MS_PER_MINUTE;
const AGAIN_MS = 5 * MS_PER_MINUTE;
const RETRY_MS = 10_000;
/** Minimum interval between warnings about failures. */
const WANT_EVERY_MS = 10 * MS_PER_MINUTE;

export interface WantTools {
  readonly events: Pick<EventLog, 'want'>;
  /** Registers the receiver as a reader, before events are requested for it. */
  readonly open: () => Promise<unknown>;
  /** Names the process and the receiver. */
  readonly owner: string;
  readonly types: readonly (EventType | '*')[];
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Requests the event types to be written for all users, repeatedly. The request is not withdrawn at a stop: events stored meanwhile
 * are for the receiver's next start.
 */
export class KeptWants {
  readonly #tools: WantTools;
  readonly #log: SparseLog;
  readonly #stop = new AbortController();

  private constructor(tools: WantTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock, WANT_EVERY_MS);
  }

  /**
   * Resolves when the types are requested, or if the store is temporarily not writable, as on a full disk: then no events are
   * written either.
   *
   * @throws if the store can never accept the request
   */
  static async begin(tools: WantTools): Promise<KeptWants> {
    const wants = new KeptWants(tools);
    if (tools.types.length === 0) return wants;
    void wants.#repeat(await wants.#first());
    return wants;
  }

  /** @returns milliseconds until the next request is due */
  async #first(): Promise<number> {
    try {
      await this.#store();
      return AGAIN_MS;
    } catch (error) {
      if (!(error instanceof ConsumeError) || !error.retryable) throw error;
      this.#failed(error);
      return RETRY_MS;
    }
  }

  end(): void {
    this.#stop.abort();
  }

  async #repeat(firstMs: number): Promise<void> {
    const { clock } = this.#tools;
    for (let waitMs = firstMs; ;) {
      await pause(clock, waitMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      try {
        await this.#store();
        waitMs = AGAIN_MS;
      } catch (error) {
        this.#failed(error);
        waitMs = RETRY_MS;
      }
    }
  }

  #failed(error: unknown): void {
    this.#log.warn(0, { err: error }, 'Could not store which event types are needed; retrying');
  }

  async #store(): Promise<void> {
    const { events, open, owner, types, health, clock } = this.#tools;
    await open();
    await health.ask('wanting', () => events.want(owner, types, clock.now() + WANT_MS * MICROS_PER_MS));
  }
}
