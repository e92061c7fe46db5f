import type { Clock, Logger } from '../../../component/telemetry.js';
import { pause } from '../../../telemetry/pause.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';
import type { Accounts } from '../../accounts.js';
import type { EventLog, EventPageLimit } from '../../event-log.js';
import type { FactPage } from '../events/facts.js';

/** What is read and appended at once. */
const PAGE: EventPageLimit = { events: 500, bytes: 4 * 1024 * 1024 };

/** Users that are remembered. */
const MOST_USERS = 10_000;

/** Waits after failures: each twice the one before. */
const FIRST_WAIT_MS = 100;
const MOST_WAIT_MS = 10_000;

export interface FactPumpTools {
  /** Names this store among the sources of the log. */
  readonly source: string;
  readonly events: Pick<EventLog, 'append' | 'markOf'>;
  readonly accounts: Pick<Accounts, 'findTenants'>;
  /** Asks the store for what is behind a mark. */
  readonly read: (mark: string | null, limit: EventPageLimit) => Promise<FactPage>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when facts cannot be brought, and when they can again. */
  readonly onFailing: (isFailing: boolean) => void;
}

/**
 * Brings the facts that commits of telemetry wrote into the log of events: page by page, one at a time, each in one transaction with the
 * mark of how far it came. So each is told once, whatever fails; and a start goes on where the log has it from.
 */
export class FactPump {
  readonly #tools: FactPumpTools;
  readonly #log: SparseLog;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Users by their numbers, which never change: under load each question takes a turn of this thread, of some 50 ms. */
  readonly #users = new Map<number, string>();
  /** As the log has it; undefined: it is to be asked. */
  #mark: string | null | undefined;
  /** Whether there may be facts that were not found yet. */
  #isCalled = true;
  #wake: () => void = () => undefined;

  constructor(tools: FactPumpTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
    this.#running = this.#run();
  }

  /** A commit wrote facts. */
  wake(): void {
    this.#isCalled = true;
    this.#wake();
  }

  /** Begins nothing more, and waits for the page under way. What is left comes after the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      if (!this.#isCalled) {
        await this.#called();
        continue;
      }
      this.#isCalled = false;
      try {
        await this.#bring();
        if (failures > 0) this.#tools.onFailing(false);
        failures = 0;
      } catch (error) {
        this.#isCalled = true;
        // What failed may have been done, and only the answer been lost.
        this.#mark = undefined;
        if (failures === 0) this.#tools.onFailing(true);
        failures++;
        this.#log.warn(
          0,
          { err: error },
          'Events of telemetry were not brought into the log; it is tried again',
        );
        await pause(this.#tools.clock, Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)), signal);
      }
    }
  }

  /** One page. */
  async #bring(): Promise<void> {
    const { source, events, read, logger } = this.#tools;
    const after = this.#mark === undefined ? await events.markOf(source) : this.#mark;
    this.#mark = after;
    const { facts, mark, hasMore } = await read(after, PAGE);
    if (hasMore) this.#isCalled = true;
    if (facts.length === 0) return;
    await this.#findUsers(facts);
    const known = facts.flatMap(({ tenant: number, event }) => {
      const tenant = this.#users.get(number);
      return tenant === undefined ? [] : { fact: event.id, tenant, event };
    });
    if (known.length < facts.length)
      logger.error(
        { events: facts.length - known.length },
        'Events of users that there are not were passed over',
      );
    await events.append(known, { source, mark });
    this.#mark = mark;
  }

  /** Asks for those that are not known yet. */
  async #findUsers(facts: FactPage['facts']): Promise<void> {
    if (this.#users.size > MOST_USERS) this.#users.clear();
    const numbers = new Set(facts.map(({ tenant }) => tenant));
    const unknown = [...numbers].filter((number) => !this.#users.has(number));
    if (unknown.length === 0) return;
    for (const [number, user] of await this.#tools.accounts.findTenants(unknown))
      this.#users.set(number, user);
  }

  async #called(): Promise<void> {
    const called = new AbortController();
    this.#wake = () => {
      called.abort();
    };
    await pause(this.#tools.clock, null, called.signal, this.#stop.signal);
  }
}
