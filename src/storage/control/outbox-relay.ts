import type { Clock } from '../../component/telemetry.js';
import { pause } from '../../telemetry/pause.js';
import type { Accounts } from '../contracts/accounts.js';
import type {
  EventLog,
  EventPageLimit,
  FactIntake,
  FactNews,
  FactPage,
  OutboxSource,
  NumberedFact,
} from '../contracts/events.js';

/** What is read and appended at once. */
const PAGE: EventPageLimit = { events: 500, bytes: 4 * 1024 * 1024 };

/** Users that are remembered. */
const MOST_USERS = 10_000;

/** Waits after failures: each twice the one before. */
const FIRST_WAIT_MS = 100;
const MOST_WAIT_MS = 10_000;

export interface OutboxRelayTools {
  readonly source: OutboxSource;
  readonly events: Pick<EventLog, 'append' | 'markOf'>;
  readonly accounts: Pick<Accounts, 'findTenants'>;
  readonly clock: Clock;
  readonly news: FactNews;
}

/** A page that was asked for. */
interface Reading {
  readonly page: Promise<FactPage>;
  /** Waits for facts no longer. */
  readonly end: AbortController;
}

/**
 * Brings the facts of a source into the log of events: page by page, in their order, each in one transaction with the mark of how far it
 * came. So each is told once, whatever fails; and a start goes on where the log has it from. While a page is appended the next one is read.
 */
export class OutboxRelay implements FactIntake {
  readonly #tools: OutboxRelayTools;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Users by their numbers, which never change. */
  readonly #users = new Map<number, string>();
  /** What follows all that was appended; null: the log is to be asked how far that was. */
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
        if (failures > 0) this.#tools.news.failing(null);
        failures = 0;
      } catch (error) {
        failures++;
        await this.#waitAfter(error, failures);
      }
    }
  }

  async #waitAfter(error: unknown, failures: number): Promise<void> {
    const { clock, news } = this.#tools;
    // What failed may have been done, and only the answer been lost.
    this.#reading?.end.abort();
    this.#reading = null;
    if (this.#isStopping) return;
    news.failing(error instanceof Error ? error : new Error(String(error)));
    const waitMs = Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
    await pause(clock, waitMs, this.#stop.signal);
  }

  get #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** One page. @param waits for facts, where there are none */
  async #bring(waits: boolean): Promise<void> {
    const { source, events, news } = this.#tools;
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
    if (known.length < facts.length) news.passedOver(facts.length - known.length);
  }

  #read(mark: string | null, waits: boolean): Reading {
    const end = new AbortController();
    if (this.#isStopping) end.abort();
    const page = this.#tools.source.readFacts(mark, PAGE, waits ? end.signal : undefined);
    // Whoever comes to it is told; until then the rejection is not unhandled.
    page.catch(() => undefined);
    return { page, end };
  }

  /** Asks for those that are not known yet. */
  async #findUsers(facts: readonly NumberedFact[]): Promise<void> {
    if (this.#users.size > MOST_USERS) this.#users.clear();
    const numbers = new Set(facts.map(({ tenant }) => tenant));
    const unknown = [...numbers].filter((number) => !this.#users.has(number));
    if (unknown.length === 0) return;
    for (const [number, user] of await this.#tools.accounts.findTenants(unknown))
      this.#users.set(number, user);
  }
}
