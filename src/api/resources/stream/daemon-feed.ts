import type { Clock } from '../../../component/telemetry.js';
import type { Inbox } from './inbox.js';
import { sseEvent } from './sse.js';

const EVERY_MS = 2000;

/** Daemon throughput: read once for all streams, and only while a stream listens. */
export class DaemonFeed {
  readonly #print: () => string;
  readonly #clock: Clock;
  readonly #listeners = new Set<(event: Uint8Array) => void>();
  #cancel: () => void = () => undefined;

  /** @param print returns the current daemon state as JSON */
  constructor(print: () => string, clock: Clock) {
    this.#print = print;
    this.#clock = clock;
  }

  /** Keeps only the newest state, so a slow reader gets fewer updates. */
  readonly inbox = (wake: () => void): Inbox => {
    let newest: Uint8Array | null = this.#event();
    const notify = (event: Uint8Array): void => {
      newest = event;
      wake();
    };
    if (this.#listeners.size === 0) this.#notifySoon();
    this.#listeners.add(notify);
    return {
      take: () => {
        const events = newest === null ? [] : [newest];
        newest = null;
        return events;
      },
      close: () => {
        this.#listeners.delete(notify);
        if (this.#listeners.size === 0) this.#cancel();
      },
    };
  };

  #event(): Uint8Array {
    return sseEvent('edges', this.#print());
  }

  #notifySoon(): void {
    this.#cancel = this.#clock.after(EVERY_MS, () => {
      const event = this.#event();
      for (const notify of this.#listeners) notify(event);
      this.#notifySoon();
    });
  }
}
