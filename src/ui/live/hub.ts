import { Leader } from './leader.js';
import { topicName, topicOf } from './subscriptions.js';

/** Data of stream events. */
export type StreamData = Readonly<Record<string, unknown>>;

/** A subscriber of a page. */
export interface Listener {
  /** Comma-separated topics; read again for each connection, because they may contain a position. */
  readonly topics: () => string;
  readonly names: ReadonlySet<string>;
  readonly notify: (event: string, data: StreamData) => void;
  readonly onLive: (isLive: boolean) => void;
  /** Whether the subscriber was notified that the stream is open. */
  isOpen: boolean;
}

type Message =
  | { readonly kind: 'want'; readonly tab: string; readonly topics: readonly string[] }
  | { readonly kind: 'here' | 'bye'; readonly tab: string }
  | { readonly kind: 'lead' }
  | { readonly kind: 'state'; readonly isLive: boolean }
  | { readonly kind: 'event'; readonly name: string; readonly data: string };

/** Keeps the stream open while the user navigates. */
const LINGER_MS = 1000;
const GATHER_MS = 20;
const HERE_MS = 30_000;

/**
 * The event stream of a tab. All visible tabs share one connection: the tab that holds the lock owns it and
 * forwards events; if it closes or is hidden, the next tab takes over. Without the Locks API, which needs a
 * secure context, each tab has its own connection.
 */
export class Hub {
  readonly #name: string;
  readonly #filters: Readonly<Record<string, string>>;
  readonly #onIdle: () => void;
  readonly #tab = crypto.getRandomValues(new Uint32Array(4)).join('-');
  readonly #listeners = new Set<Listener>();
  #channel: BroadcastChannel | undefined;
  #leader: Leader | undefined;
  /** Cancels the wait for the lock, or releases it. */
  #leave: (() => void) | undefined;
  #lingering: ReturnType<typeof setTimeout> | undefined;
  #announcing: ReturnType<typeof setTimeout> | undefined;
  #beating: ReturnType<typeof setInterval> | undefined;

  /**
   * @param name the same for all tabs that share a stream
   * @param onIdle called when nothing subscribes any more
   */
  constructor(name: string, filters: Readonly<Record<string, string>>, onIdle: () => void) {
    this.#name = name;
    this.#filters = filters;
    this.#onIdle = onIdle;
  }

  /** @returns a function that unsubscribes */
  join(listener: Listener): () => void {
    if (this.#listeners.size === 0) document.addEventListener('visibilitychange', this.#look);
    this.#listeners.add(listener);
    clearTimeout(this.#lingering);
    this.#look();
    this.#announceSoon();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) this.#announceSoon();
      else {
        document.removeEventListener('visibilitychange', this.#look);
        this.#lingering = setTimeout(() => {
          this.#stop();
          this.#onIdle();
        }, LINGER_MS);
      }
    };
  }

  /** Hidden tabs need no events, and their timers are too slow to serve other tabs. */
  readonly #look = (): void => {
    if (document.hidden) this.#stop();
    else if (this.#channel === undefined) this.#start();
  };

  #start(): void {
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      this.#receive(data);
    });
    this.#beating = setInterval(() => {
      this.#post({ kind: 'here', tab: this.#tab });
    }, HERE_MS);
    this.#leave = this.#stand();
    this.#announceSoon();
  }

  /** Waits to become the leader. @returns a function that stops waiting or leading */
  #stand(): () => void {
    const leave = new AbortController();
    const { signal } = leave;
    const locks = (navigator as { readonly locks?: LockManager }).locks;
    if (locks === undefined) this.#lead();
    else
      void locks
        .request(this.#name, { signal }, async () => {
          if (signal.aborted) return;
          this.#lead();
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
        })
        .catch(() => undefined);
    return () => {
      leave.abort();
    };
  }

  #stop(): void {
    clearTimeout(this.#announcing);
    clearInterval(this.#beating);
    this.#post({ kind: 'bye', tab: this.#tab });
    // The next leader notifies the other tabs.
    if (this.#leader) this.#post({ kind: 'state', isLive: false });
    this.#leader?.close();
    this.#leader = undefined;
    this.#leave?.();
    this.#leave = undefined;
    this.#channel?.close();
    this.#channel = undefined;
    this.#setLive(false);
  }

  #lead(): void {
    this.#leader = new Leader(this.#filters, {
      onEvent: (name, data) => {
        this.#post({ kind: 'event', name, data });
        this.#notify(name, data);
      },
      onState: (isLive) => {
        this.#post({ kind: 'state', isLive });
        this.#setLive(isLive);
      },
    });
    // Events may have been lost between two leaders, so every subscriber reloads.
    this.#setLive(false);
    this.#post({ kind: 'lead' });
    this.#announce();
  }

  #receive(message: Message): void {
    if (message.kind === 'want') this.#leader?.subscribe(message.tab, message.topics);
    else if (message.kind === 'here') this.#leader?.seen(message.tab);
    else if (message.kind === 'bye') this.#leader?.drop(message.tab);
    else if (message.kind === 'state') this.#setLive(message.isLive);
    else if (message.kind === 'event') this.#notify(message.name, message.data);
    else {
      this.#setLive(false);
      this.#announce();
    }
  }

  #post(message: Message): void {
    this.#channel?.postMessage(message);
    if (message.kind === 'here') this.#leader?.seen(message.tab);
  }

  #announceSoon(): void {
    clearTimeout(this.#announcing);
    this.#announcing = setTimeout(() => {
      this.#announce();
    }, GATHER_MS);
  }

  #announce(): void {
    const topics = [...this.#listeners].flatMap((listener) => listener.topics().split(','));
    if (this.#leader) this.#leader.subscribe(this.#tab, topics);
    else this.#post({ kind: 'want', tab: this.#tab, topics });
  }

  #setLive(isLive: boolean): void {
    for (const listener of this.#listeners) {
      if (listener.isOpen === isLive) continue;
      listener.isOpen = isLive;
      listener.onLive(isLive);
      if (isLive && listener.names.has('open')) listener.notify('open', {});
    }
  }

  #notify(name: string, text: string): void {
    const listeners = [...this.#listeners].filter(({ names }) => names.has(name));
    if (listeners.length === 0) return;
    const data = JSON.parse(text) as StreamData;
    const topic = topicOf(name, data);
    for (const { topics, notify } of listeners)
      if (topic === undefined || topics().split(',').map(topicName).includes(topic)) notify(name, data);
  }
}
