import type { Clock } from '../../component/telemetry.js';
import { pause } from '../../telemetry/pause.js';
import type { Accounts } from '../contracts/accounts.js';
import type {
  EventLog,
  EventPageLimit,
  FactIntake,
  IntakeListener,
  FactPage,
  OutboxSource,
  NumberedFact,
} from '../contracts/events.js';

/** Maximum size of a page. */
const PAGE: EventPageLimit = { events: 500, bytes: 4 * 1024 * 1024 };

/** Maximum number of cached users. */
const MOST_USERS = 10_000;

/** Backoff after failures, doubled each time. */
const FIRST_WAIT_MS = 100;
const MOST_WAIT_MS = 10_000;

export interface OutboxRelayTools {
  readonly source: OutboxSource;
  readonly events: Pick<EventLog, 'append' | 'markOf'>;
  readonly accounts: Pick<Accounts, 'findTenants'>;
  readonly clock: Clock;
  readonly listener: IntakeListener;
}

/** A page that is being read. */
interface Reading {
  readonly page: Promise<FactPage>;
  /** Ends the wait for new facts. */
  readonly end: AbortController;
}

/**
 * Copies the facts of a source into the event log: page by page, in order, each page in one transaction with its mark. Therefore each
 * fact is written once despite failures, and a restart continues at the stored mark. The next page is read while one is appended.
 */
export class OutboxRelay implements FactIntake {
  readonly #tools: OutboxRelayTools;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** User ids by number; they never change. */
  readonly #users = new Map<number, string>();
  /** The read of the next page; null: its mark must be read from the log first. */
  #reading: Reading | null = null;

  constructor(tools: OutboxRelayTools) {
    this.#tools = tools;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#reading?.end.abort();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    for (let failures = 0; !this.#isStopping;) {
      try {
        await this.#bring(failures === 0);
        if (failures > 0) this.#tools.listener.failing(null);
        failures = 0;
      } catch (error) {
        failures++;
        await this.#waitAfter(error, failures);
      }
    }
  }

  async #waitAfter(error: unknown, failures: number): Promise<void> {
    const { clock, listener } = this.#tools;
    // The failed append may have been committed, with only the response lost.
    this.#reading?.end.abort();
    this.#reading = null;
    if (this.#isStopping) return;
    listener.failing(error instanceof Error ? error : new Error(String(error)));
    const waitMs = Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
    await pause(clock, waitMs, this.#stop.signal);
  }

  get #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Copies one page. @param waits whether to wait for facts if there are none */
  async #bring(waits: boolean): Promise<void> {
    const { source, events, listener } = this.#tools;
    this.#reading ??= this.#read(await events.markOf(source.name), waits);
    const { facts, mark } = await this.#reading.page;
    this.#reading = this.#read(mark, true);
    if (facts.length === 0) return;
    await this.#findUsers(facts);
    const known = facts.flatMap(({ tenant: number, event }) => {
      const tenant = this.#users.get(number);
      return tenant === undefined ? [] : { fact: event.id, tenant, event };
    });
    await events.append(known, { source: source.name, mark });
    if (known.length < facts.length) listener.passedOver(facts.length - known.length);
  }

  #read(mark: string | null, waits: boolean): Reading {
    const end = new AbortController();
    if (this.#isStopping) end.abort();
    const page = this.#tools.source.readFacts(mark, PAGE, waits ? end.signal : undefined);
    // The error is handled when the page is awaited; until then it must not be an unhandled rejection.
    page.catch(() => undefined);
    return { page, end };
  }

  /** Reads the ids of users that are not cached yet. */
  async #findUsers(facts: readonly NumberedFact[]): Promise<void> {
    if (this.#users.size > MOST_USERS) this.#users.clear();
    const numbers = new Set(facts.map(({ tenant }) => tenant));
    const unknown = [...numbers].filter((number) => !this.#users.has(number));
    if (unknown.length === 0) return;
    for (const [number, user] of await this.#tools.accounts.findTenants(unknown))
      this.#users.set(number, user);
  }
}
