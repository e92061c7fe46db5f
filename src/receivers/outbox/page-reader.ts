import type { Clock } from '../../component/telemetry.js';
import { MS_PER_SECOND } from '../../signal/time-units.js';
import type {
  EventLog,
  EventPageLimit,
  EventPosition,
  LoggedEvents,
} from '../../storage/contracts/events.js';
import type { StoreHealth } from './store-health.js';

/** Interval for polling the log, because a notification may be lost. */
const LOOK_MS = 10 * MS_PER_SECOND;

export interface PageReaderTools {
  readonly events: Pick<EventLog, 'read'>;
  readonly limit: EventPageLimit;
  readonly health: StoreHealth;
  readonly clock: Clock;
  /** Aborted when nothing more is read. */
  readonly stop: AbortSignal;
}

/**
 * Reads the log page by page. The next page is requested as soon as the current one has arrived, and returned once there are
 * events: an event then takes only one message to this thread, whose queue may be long on a busy daemon.
 */
export class PageReader {
  readonly #tools: PageReaderTools;
  /** The position after the last event read. */
  #position: EventPosition;
  #ahead: Promise<LoggedEvents> | null = null;
  #isFailing = false;

  constructor(position: EventPosition, tools: PageReaderTools) {
    this.#position = position;
    this.#tools = tools;
  }

  /** The next page: existing events immediately, otherwise the next ones; empty after a timeout, or when stopping. */
  async read(): Promise<LoggedEvents> {
    const reading = this.#ahead ?? this.#ask();
    this.#ahead = null;
    try {
      const page = await this.#tools.health.ask('reading', () => reading);
      this.#isFailing = false;
      this.#position = page.next;
      if (page.events.length > 0) this.#readAhead();
      return page;
    } catch (error) {
      this.#isFailing = true;
      throw error;
    }
  }

  #readAhead(): void {
    if (this.#tools.stop.aborted) return;
    this.#ahead = this.#ask();
    // The caller of `read` receives the rejection; until then it must not count as unhandled.
    this.#ahead.catch(() => undefined);
  }

  async #ask(): Promise<LoggedEvents> {
    const { events, limit, clock, stop } = this.#tools;
    // Recovery of a failed log must be noticed without waiting for the next event.
    if (this.#isFailing) return await events.read(this.#position, limit);
    const over = new AbortController();
    const end = (): void => {
      over.abort();
    };
    const cancel = clock.after(LOOK_MS, end);
    stop.addEventListener('abort', end);
    if (stop.aborted) end();
    try {
      return await events.read(this.#position, limit, over.signal);
    } finally {
      cancel();
      stop.removeEventListener('abort', end);
    }
  }
}
