import { randomUUID } from 'node:crypto';
import { Client, type ClientConfig } from 'pg';
import type { Clock, Logger } from '../../../component/telemetry.js';
import type { Topic } from '../../contracts/coordination.js';
import { LocalSignals, type Signals } from '../signals.js';
import type { ChangedIds } from '../changed-ids.js';
import { postgresFailure } from './postgres-failure.js';
import { serializeHints, readHints, UnsentHints } from './unsent-hints.js';

const CHANNEL = 'jackdaw';
/** Can be repeated. */
const LISTEN = `listen ${CHANNEL}`;
/** NOTIFY serializes commits: this process sends at most ten per second, each with all topics and as many deliveries as fit. */
const SEND_MS = 100;
/** How often to check the connection: a network failure may go unreported. */
const LOOK_MS = 5000;
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5000;

/**
 * Hints between all processes that use the database, over a separate connection. Hints of this process are passed on locally at once.
 */
export class PostgresSignals implements Signals {
  readonly #local = new LocalSignals();
  readonly #config: ClientConfig;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Identifies this process among the senders. */
  readonly #sender = randomUUID();
  readonly #unsent = new UnsentHints();
  #client: Client | null = null;
  #connecting: Promise<void> = Promise.resolve();
  #isPaused = false;
  #isClosed = false;
  #failures = 0;

  constructor(parts: { readonly config: ClientConfig; readonly clock: Clock; readonly logger: Logger }) {
    this.#config = parts.config;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  /** Starts listening; failures are retried until it is closed. */
  async open(): Promise<void> {
    this.#connecting = this.#connect();
    await this.#connecting;
  }

  watch(topic: Topic, listener: () => void): () => void {
    return this.#local.watch(topic, listener);
  }

  get deliveries(): ChangedIds {
    return this.#local.deliveries;
  }

  notify(topics: ReadonlySet<Topic>, deliveries: readonly string[]): void {
    this.#local.notify(topics, deliveries);
    this.#unsent.add({ topics, deliveries, lost: 0 });
    this.#send();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#connecting;
    await this.#local.close();
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new Client(this.#config);
    // A connection may be lost at any time, and an `error` event without a listener ends the process.
    client.on('error', () => undefined);
    client.on('end', () => {
      this.#lost(client);
    });
    client.on('notification', ({ payload = '' }) => {
      const [sender, ...words] = payload.split(' ');
      if (sender === this.#sender) return;
      const { topics, deliveries, lost } = readHints(words);
      this.#local.notify(topics, deliveries);
      this.deliveries.lose(lost);
    });
    try {
      await client.connect();
      await client.query(LISTEN);
    } catch (error) {
      await client.end().catch(() => undefined);
      this.#tryAgain(error);
      return;
    }
    this.#client = client;
    if (this.#failures > 0) {
      this.#logger.info({}, 'Listening for changes by other processes again');
      // Changes during the outage were missed.
      this.#local.notifyAll();
      this.deliveries.lose(1);
    }
    this.#failures = 0;
    this.#look(client);
    this.#send();
  }

  #look(client: Client): void {
    this.#clock.after(LOOK_MS, () => {
      if (this.#isClosed || this.#client !== client) return;
      client.query(LISTEN).then(
        () => {
          this.#look(client);
        },
        () => {
          this.#cut(client);
        },
      );
    });
  }

  /** Closes a connection that does not respond. */
  #cut(client: Client): void {
    client.end().catch(() => undefined);
    this.#lost(client);
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#tryAgain(new Error('the connection was lost'));
  }

  #tryAgain(error: unknown): void {
    if (this.#isClosed) return;
    if (this.#failures === 0)
      this.#logger.warn(
        { reason: postgresFailure(error).message },
        'Cannot listen for changes by other processes because PostgreSQL does not respond; retrying, and polling meanwhile',
      );
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures++, LAST_PAUSE_MS);
    this.#clock.after(pause, () => {
      if (!this.#isClosed) this.#connecting = this.#connect();
    });
  }

  /** Sends hints to the other processes, at most every `SEND_MS`. */
  #send(): void {
    if (this.#client === null || this.#isPaused || this.#isClosed || this.#unsent.isEmpty) return;
    const hints = this.#unsent.take();
    this.#isPaused = true;
    this.#clock.after(SEND_MS, () => {
      this.#isPaused = false;
      this.#send();
    });
    const client = this.#client;
    const words = [this.#sender, ...serializeHints(hints)].join(' ');
    client.query('select pg_notify($1, $2)', [CHANNEL, words]).catch(() => {
      // The connection is lost: they are sent over the next one.
      this.#unsent.add(hints);
      this.#cut(client);
    });
  }
}
