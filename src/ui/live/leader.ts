import { BASE } from '../api/base.js';
import { topicOf, Subscriptions } from './subscriptions.js';

/** First wait before a refused stream is retried; it doubles each time */
const FIRST_WAIT_MS = 1000;
/** up to this limit. */
const LONGEST_WAIT_MS = 30_000;
/** Collects changes of several tabs into one new stream. */
const GATHER_MS = 50;
const PRUNE_MS = 30_000;
const EVENTS = ['run', 'span', 'log', 'alert', 'prompt', 'delivery', 'edges', 'tap', 'lost'];

/** Receives what the stream delivers. */
export interface StreamSink {
  onEvent(name: string, data: string): void;
  /** @param isLive whether all subscribed topics are streamed */
  onState(isLive: boolean): void;
}

/** The single stream connection of a browser, shared by its tabs. */
export class Leader {
  readonly #filters: Readonly<Record<string, string>>;
  readonly #sink: StreamSink;
  readonly #subscriptions = new Subscriptions();
  readonly #pruning: ReturnType<typeof setInterval>;
  #source: EventSource | undefined;
  /** Replaces the current connection once open, so that no event is lost in between. */
  #next: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waitMs = FIRST_WAIT_MS;

  constructor(filters: Readonly<Record<string, string>>, sink: StreamSink) {
    this.#filters = filters;
    this.#sink = sink;
    this.#pruning = setInterval(() => {
      if (this.#subscriptions.prune(Date.now())) this.#openSoon();
    }, PRUNE_MS);
  }

  /** @param topics all topics of a tab */
  subscribe(tab: string, topics: readonly string[]): void {
    if (this.#subscriptions.set(tab, topics, Date.now())) this.#openSoon();
    else if (this.#source && !this.#next) this.#sink.onState(true);
  }

  seen(tab: string): void {
    this.#subscriptions.seen(tab, Date.now());
  }

  drop(tab: string): void {
    if (this.#subscriptions.drop(tab)) this.#openSoon();
  }

  close(): void {
    clearInterval(this.#pruning);
    clearTimeout(this.#timer);
    this.#next?.close();
    this.#source?.close();
  }

  #openSoon(waitMs = GATHER_MS): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#open();
    }, waitMs);
  }

  #open(): void {
    this.#next?.close();
    this.#next = undefined;
    const topics = this.#subscriptions.open();
    if (topics === '') {
      this.#source?.close();
      this.#source = undefined;
      return;
    }
    const url = new URL('api/v1/dashboard/stream', BASE);
    // Each tab filters events of all runs itself.
    for (const [name, value] of Object.entries({ kind: 'all', ...this.#filters, topics }))
      url.searchParams.set(name, value);
    const opened = new EventSource(url);
    this.#next = opened;
    opened.addEventListener('open', () => {
      if (this.#next !== opened) return;
      this.#source?.close();
      this.#source = opened;
      this.#next = undefined;
      this.#waitMs = FIRST_WAIT_MS;
      this.#sink.onState(true);
    });
    opened.addEventListener('error', () => {
      this.#lose(opened);
    });
    for (const name of EVENTS)
      opened.addEventListener(name, ({ data }: MessageEvent<string>) => {
        this.#take(name, data);
      });
  }

  // The start position has changed since the connection began, so the browser must not reconnect automatically.
  #lose(source: EventSource): void {
    source.close();
    if (this.#next === source) this.#next = undefined;
    else if (this.#source === source) {
      this.#source = undefined;
      this.#sink.onState(false);
    } else return;
    this.#subscriptions.close();
    this.#openSoon(this.#waitMs);
    this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
  }

  #take(name: string, data: string): void {
    if (name === 'span') {
      const event = JSON.parse(data) as { readonly trace_id: string; readonly seq: number };
      this.#subscriptions.reached(topicOf('span', event) ?? '', event.seq);
    }
    this.#sink.onEvent(name, data);
  }
}
