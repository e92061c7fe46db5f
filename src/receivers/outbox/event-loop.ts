import { ConsumeError } from '../../component/consume-error.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { backoffMs, type RetryOptions } from '../../delivery/backoff.js';
import { pause } from '../../telemetry/pause.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { waitFor } from '../../telemetry/wait-for.js';
import type { EventsBatch } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';
import type { EventLog, EventPageLimit, EventPosition, StoredEvent } from '../../storage/contracts/events.js';
import type { Lease } from '../../storage/contracts/coordination.js';
import type { Handover } from './handover.js';
import { PageReader } from './page-reader.js';
import { Progress } from './progress.js';
import type { StoreHealth } from './store-health.js';
import type { EventRecord } from '../../signal/event.js';

export interface EventLoopTools {
  readonly events: Pick<EventLog, 'read' | 'progress'>;
  /** Its name among the readers of the log. */
  readonly reader: string;
  /** Shows that only this process passes on events. */
  readonly lease: Lease;
  /** Called if the log reports that another process has taken the lease. */
  readonly onLost: () => void;
  readonly limit: EventPageLimit;
  readonly retry: RetryOptions;
  readonly handover: Handover;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A page in progress. */
interface Page {
  /** The remaining batches. */
  readonly batches: EventsBatch[];
  readonly next: EventPosition;
}

/**
 * Reads pages, passes each on batch by batch, and saves the progress concurrently. Every failure is retried without limit from the
 * point of failure: accepted batches are not passed on again.
 */
export class EventLoop {
  readonly #tools: EventLoopTools;
  readonly #log: SparseLog;
  readonly #running: Promise<void>;
  /** Aborted when work in flight is no longer awaited. */
  readonly #end = new AbortController();
  /** Aborted when failures are no longer retried. */
  readonly #stop = new AbortController();
  readonly #progress: Progress;
  readonly #pages: PageReader;
  #page: Page | null = null;

  /** @param position where to begin */
  constructor(position: EventPosition, tools: EventLoopTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
    const stop = this.#stop.signal;
    this.#progress = new Progress({ ...tools, save: (done) => this.#save(done), stop });
    this.#pages = new PageReader(position, { ...tools, stop });
    this.#running = this.#run();
  }

  /** Time of the oldest event that was read and not accepted yet; null if absent. */
  get oldestAt(): Micros | null {
    const waiting = this.#page?.batches.flatMap(({ items }) => items) ?? [];
    return waiting.reduce<Micros | null>(
      (oldest, { timestamp }) => Math.min(oldest ?? timestamp, timestamp),
      null,
    );
  }

  /**
   * Stops reading and finishes the current page, so that none of it is repeated. If that fails, or takes longer than the deadline, the
   * next start begins with that page.
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stop.abort();
    await waitFor(this.#running, deadline);
    if (deadline.aborted) this.#end.abort();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#isOver(failures)) {
      try {
        await this.#advance();
        failures = 0;
      } catch (error) {
        failures += 1;
        await this.#waitAfter(error, failures);
      }
    }
    await this.#progress.settled();
  }

  get #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  #isOver(failures: number): boolean {
    return this.#isStopping && (this.#page === null || failures > 0 || this.#end.signal.aborted);
  }

  /** The next step: reads a page, passes on a batch of it, or saves the progress after its last batch. */
  async #advance(): Promise<void> {
    if (this.#page === null) {
      const { events, next } = await this.#pages.read();
      // A page read during a stop is read again after the next start.
      if (events.length > 0 && !this.#isStopping) this.#page = { batches: [...batchesOf(events)], next };
      return;
    }
    const [batch] = this.#page.batches;
    if (batch) {
      const { handover, clock } = this.#tools;
      await handover.give(batch, { receivedAt: clock.now(), abort: this.#end.signal });
      this.#page.batches.shift();
    } else {
      this.#progress.note(this.#page.next);
      this.#page = null;
    }
  }

  async #save(done: EventPosition): Promise<void> {
    const { events, reader, lease, health, onLost } = this.#tools;
    const isNoted = await health.ask('saving', () => events.progress(reader, done, lease));
    // The new owner of the lease starts at the last saved position.
    if (!isNoted) onLost();
  }

  async #waitAfter(error: unknown, failures: number): Promise<void> {
    const { retry, clock } = this.#tools;
    const retryAfterMs = error instanceof ConsumeError ? (error.retryAfterMs ?? 0) : 0;
    const waitMs = backoffMs(retry, failures, retryAfterMs, Math.random());
    this.#log.warn(
      this.#page?.batches[0]?.items.length ?? 0,
      { err: error, wait_ms: waitMs },
      this.#isStopping
        ? 'Could not pass on events before stopping; they are sent after the next start'
        : 'Could not pass on events; retrying',
    );
    // New events do not make a failed step succeed.
    await pause(clock, waitMs, this.#stop.signal);
  }
}

/** Groups events by tenant, each in the original order. The tenant of the first event goes first. */
function batchesOf(events: readonly StoredEvent[]): readonly EventsBatch[] {
  const byTenant = new Map<string, EventRecord[]>();
  for (const { tenant, event } of events) {
    const items = byTenant.get(tenant);
    if (items) items.push(event);
    else byTenant.set(tenant, [event]);
  }
  return [...byTenant].map(([tenant, items]) => ({ tenant, items }));
}
