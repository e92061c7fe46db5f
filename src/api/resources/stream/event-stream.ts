import { ConsumeError } from '../../../component/consume-error.js';
import type { Clock } from '../../../component/telemetry.js';
import { serializeJson } from '../../../signal/json.js';
import { MICROS_PER_MS } from '../../../signal/time-units.js';
import type { RunFilter, Runs, RunSummary } from '../../../storage/contracts/runs.js';
import { serializeListedRun } from '../../support/run-export.js';
import { FollowedTraces } from './followed-traces.js';
import type { Inbox } from './inbox.js';
import { LogTail } from './log-tail.js';
import type { Seat } from './feeds.js';
import { lostEvent, SSE_COMMENT, SSE_RETRY, sseEvent } from './sse.js';
import type { Topics } from './topics.js';
import type { LogFilter } from '../../../storage/contracts/logs.js';

/** Events within this time are sent together: a stream sends at most four times a second. */
const FRAME_MS = 250;
/** Interval for checking whether the key or login is still valid. */
const CHECK_MS = 2000;
/** Keep-alive interval: uWebSockets.js closes connections that are idle for ten seconds. */
const BEAT_MS = 5000;
/** Delay after a failed read of the store. */
const RETRY_MS = 1000;
/** Maximum number of runs per read. */
const MOST_RUNS = 200;

export interface StreamOptions {
  readonly userId: string;
  readonly topics: Topics;
  readonly runFilter: Pick<RunFilter, 'kind' | 'agent_id'>;
  readonly logFilter: LogFilter;
  /** Sends run changes after this number; null: only new changes. */
  readonly after: number | null;
  /** Topics with possibly missed events before this stream began. */
  readonly missed: readonly string[];
  /** Prefix of change numbers in event ids. */
  readonly era: string;
  readonly seat: Seat;
  readonly runs: Pick<Runs, 'find' | 'scores' | 'traceSummary'>;
  /** Factories of the other inboxes; each gets the function that wakes the stream. */
  readonly inboxes: readonly ((wake: () => void) => Inbox)[];
  /** Whether the client is still authorized. */
  readonly isAllowed: () => boolean;
  readonly gone: AbortSignal;
  readonly draining: AbortSignal;
  readonly clock: Clock;
}

type Bye = 'shutting_down' | 'signed_out';

/** One event stream. Data is read only when the client takes it, so a slow client gets fewer events and uses no more memory. */
export class EventStream implements AsyncIterable<Uint8Array> {
  readonly #options: StreamOptions;
  readonly #tail: LogTail | null;
  readonly #traces: FollowedTraces;
  readonly #inboxes: readonly Inbox[];
  readonly #ends: (() => void)[] = [];
  #lostRuns = 0;
  /** The number of the last change that was sent. */
  #seen: number;
  #hasChanges = true;
  #isOver = false;
  #goOn: () => void = () => undefined;
  #sentMs = 0;

  constructor(options: StreamOptions) {
    this.#options = options;
    const { topics, userId, runs, seat, logFilter, inboxes, gone, draining } = options;
    this.#seen = options.after ?? seat.feed.last;
    this.#traces = new FollowedTraces(runs, userId, topics.traces);
    this.#tail = topics.logs ? new LogTail(logFilter, this.#wake) : null;
    const forgot = (number: number): void => {
      if (number > this.#seen) this.#lostRuns += 1;
    };
    this.#ends.push(
      seat.feed.enter({ wake: this.#wake, forgot, ...(this.#tail && { logs: this.#tail.offer }) }),
    );
    this.#inboxes = inboxes.map((open) => open(this.#wake));
    for (const inbox of this.#inboxes)
      this.#ends.push(() => {
        inbox.close();
      });
    const stop = (): void => {
      this.#goOn();
    };
    gone.addEventListener('abort', this.#end);
    draining.addEventListener('abort', stop);
    this.#ends.push(() => {
      gone.removeEventListener('abort', this.#end);
      draining.removeEventListener('abort', stop);
    });
    if (gone.aborted) this.#end();
  }

  /** Not a generator: a generator ended before its first chunk would never release the resources of the stream. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const frames = this.#frames();
    return {
      next: () => frames.next(),
      return: async () => {
        this.#end();
        return await frames.return(undefined);
      },
    };
  }

  async *#frames(): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.concat([
        SSE_RETRY,
        this.#opening(),
        ...this.#options.missed.map((topic) => lostEvent(topic, null)),
      ]);
      this.#sentMs = this.#nowMs;
      while (!this.#isOver) {
        const bye = this.#bye();
        if (bye !== null) {
          yield sseEvent('bye', JSON.stringify({ reason: bye }));
          return;
        }
        try {
          for await (const piece of this.#changes()) {
            yield piece;
            this.#sentMs = this.#nowMs;
          }
        } catch (error) {
          if (this.#options.gone.aborted) return;
          if (!(error instanceof ConsumeError && error.retryable)) throw error;
          this.#hasChanges = true;
          await this.#pause(RETRY_MS);
        }
        // The clock may be set back meanwhile.
        if (Math.abs(this.#nowMs - this.#sentMs) >= BEAT_MS) {
          yield SSE_COMMENT;
          this.#sentMs = this.#nowMs;
        }
        await this.#pause(FRAME_MS);
        if (!this.#hasChanges) await this.#pause(CHECK_MS - FRAME_MS, true);
      }
    } finally {
      this.#end();
    }
  }

  get #nowMs(): number {
    return this.#options.clock.now() / MICROS_PER_MS;
  }

  #opening(): Uint8Array {
    return sseEvent(
      'open',
      JSON.stringify({ at: new Date(this.#nowMs).toISOString() }),
      this.#id(this.#seen),
    );
  }

  #id(number: number): string {
    return `${this.#options.era}.${String(number)}`;
  }

  #bye(): Bye | null {
    if (this.#options.draining.aborted) return 'shutting_down';
    return this.#options.isAllowed() ? null : 'signed_out';
  }

  async *#changes(): AsyncGenerator<Uint8Array> {
    this.#hasChanges = false;
    const { topics, seat, gone } = this.#options;
    const changes = seat.feed.since(this.#seen);
    for (const { id } of changes) this.#traces.touched(id);
    if (this.#lostRuns > 0) this.#traces.allTouched();
    if (topics.runs) {
      if (this.#lostRuns > 0) {
        const count = this.#lostRuns;
        this.#lostRuns = 0;
        yield lostEvent('runs', count);
      }
      // Further changes follow in the next frame.
      const now = changes.slice(0, MOST_RUNS);
      const seen = now.at(-1)?.number ?? this.#seen;
      yield* this.#runEvents(
        now.map(({ id }) => id),
        seen,
      );
      this.#seen = seen;
      this.#hasChanges ||= changes.length > now.length;
    } else {
      this.#lostRuns = 0;
      this.#seen = changes.at(-1)?.number ?? this.#seen;
    }
    for await (const { traceId, summary } of this.#traces.updates(this.#nowMs, gone))
      yield summary === null ? lostEvent(`trace:${traceId}`, null) : sseEvent('span', summary);
    yield* this.#logEvents();
    for (const inbox of this.#inboxes) {
      const events = inbox.take();
      if (events.length > 0) yield Buffer.concat(events);
    }
  }

  /** @param seen the id of the last event: clients that received it have all of these */
  async *#runEvents(ids: readonly string[], seen: number): AsyncGenerator<Uint8Array> {
    if (ids.length === 0) return;
    const { runs, userId, gone } = this.#options;
    for await (const page of runs.find(userId, ids, gone)) {
      const wanted = page.filter((run) => this.#isWanted(run));
      if (wanted.length > 0)
        yield Buffer.concat(wanted.map((run) => sseEvent('run', serializeJson(serializeListedRun(run)))));
    }
    yield Buffer.from(`id: ${this.#id(seen)}\n\n`);
  }

  #isWanted({ kind, agent_id }: RunSummary): boolean {
    const { runFilter } = this.#options;
    return (
      (runFilter.kind === undefined || runFilter.kind === kind) &&
      (runFilter.agent_id === undefined || runFilter.agent_id === agent_id)
    );
  }

  *#logEvents(): Generator<Uint8Array> {
    if (this.#tail === null) return;
    const { records, lost: count } = this.#tail.take();
    if (records.length > 0) yield Buffer.concat(records.map((record) => sseEvent('log', record)));
    if (count > 0) yield lostEvent('logs', count);
  }

  readonly #wake = (): void => {
    this.#hasChanges = true;
    this.#goOn();
  };

  /** Waits at most until the end of the stream. @param wakesOnChange whether changes also end the wait */
  async #pause(ms: number, wakesOnChange = false): Promise<void> {
    if (this.#isOver || this.#options.draining.aborted) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      this.#goOn = () => {
        if (!wakesOnChange && !this.#isOver && !this.#options.draining.aborted) return;
        cancel();
        resolve();
      };
    });
    this.#goOn = () => undefined;
  }

  readonly #end = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const end of this.#ends.splice(0)) end();
    this.#options.seat.leave();
    this.#goOn();
  };
}
