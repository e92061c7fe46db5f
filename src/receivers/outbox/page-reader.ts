import type { Clock } from '../../component/telemetry.js';
import { MS_PER_SECOND } from '../../signal/time-units.js';
import type {
  EventLog,
  EventPageLimit,
  EventPosition,
  LoggedEvents,
} from '../../storage/contracts/events.js';
import type { StoreHealth } from './store-health.js';

/** A hint may be lost: the log is looked at anew now and then. */
const LOOK_MS = 10 * MS_PER_SECOND;

export interface PageReaderTools {
  readonly events: Pick<EventLog, 'read'>;
  readonly limit: EventPageLimit;
  readonly health: StoreHealth;
  readonly clock: Clock;
  /** Fires when nothing more is read. */
  readonly stop: AbortSignal;
}

/**
 * Reads the log page by page. What follows a page is asked for with it, and answered once there is something: an event takes one message
 * to this thread, which waits its turn where a daemon is full.
 */
export class PageReader {
  readonly #tools: PageReaderTools;
  /** Behind all that was read. */
  #position: EventPosition;
  #ahead: Promise<LoggedEvents> | null = null;
  #isFailing = false;

  constructor(position: EventPosition, tools: PageReaderTools) {
    this.#position = position;
    this.#tools = tools;
  }

  /** The next page: at once what is there, otherwise what comes; none where nothing comes for a while, or at the end. */
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
    // Whoever comes to it is told; until then the rejection is not unhandled.
    this.#ahead.catch(() => undefined);
  }

  async #ask(): Promise<LoggedEvents> {
    const { events, limit, clock, stop } = this.#tools;
    // That a log works again is not to be known by the next event only.
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
