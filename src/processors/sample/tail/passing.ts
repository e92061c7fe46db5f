import { ConsumeError } from '../../../component/consume-error.js';
import type { Consumer } from '../../../component/consumer.js';
import type { Clock } from '../../../component/telemetry.js';
import { backoffMs } from '../../../delivery/backoff.js';
import type { TracesBatch } from '../../../signal/batch.js';
import { pause } from '../../../telemetry/pause.js';
import { withShare } from '../decider.js';
import type { HeldRun } from './held-run.js';

/** Maximum number of concurrent batches. */
const CONCURRENCY = 4;
/** Limits of one batch. */
const MOST_RUNS = 500;
const MOST_BYTES = 8 * 1024 * 1024;
const BACKOFF = {
  isEnabled: true,
  initialMs: 500,
  maxMs: 30_000,
  multiplier: 2,
  jitter: 0.2,
  maxElapsedMs: 0,
};
/** A quota may be raised before the month ends. */
const LONGEST_WAIT_MS = 60_000;

/** A run to pass on, with the share of similar runs that was kept. */
interface KeptRun {
  readonly run: HeldRun;
  readonly share: number;
}

/** The runs of one user, passed on one batch after the other. */
interface Lane {
  readonly tenant: string;
  readonly runs: KeptRun[];
  isBusy: boolean;
  failures: number;
  /** Why the last batch was refused; null after an accepted one. */
  error: ConsumeError | null;
}

export interface PassingTools {
  readonly next: Consumer<TracesBatch>;
  readonly clock: Clock;
  /** Called when the next consumer accepted a run. */
  readonly onPassed: (run: HeldRun) => void;
  /** Called when a part of a run was permanently refused. @param parts of runs */
  readonly onLost: (run: HeldRun | null, parts: number, reason: string) => void;
  readonly onFailure: (error: ConsumeError, waitMs: number) => void;
}

/**
 * Passes on kept runs. They were acknowledged, so delivery is retried until they are accepted or permanently refused. While a user's
 * runs are not accepted, new runs of that user are refused on arrival ({@link Passing.failureOf}).
 */
export class Passing {
  readonly #tools: PassingTools;
  readonly #lanes = new Map<string, Lane>();
  readonly #end = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #isPumpDue = false;
  bytes = 0;

  constructor(tools: PassingTools) {
    this.#tools = tools;
  }

  add(run: HeldRun, share: number): void {
    this.bytes += run.bytes;
    let lane = this.#lanes.get(run.tenant);
    if (lane === undefined) {
      lane = { tenant: run.tenant, runs: [], isBusy: false, failures: 0, error: null };
      this.#lanes.set(run.tenant, lane);
    }
    lane.runs.push({ run, share });
    // Runs that are decided in one step are sent together.
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  /** Why new runs of a user are currently refused; null if they are accepted. */
  failureOf(tenant: string): ConsumeError | null {
    return this.#lanes.get(tenant)?.error ?? null;
  }

  /** Whether runs are being passed on, so that waiting frees memory. */
  get isMoving(): boolean {
    return [...this.#lanes.values()].some(({ error }) => error === null);
  }

  /** Drops the oldest run of another user at a limit, so that it takes no space from others. @returns false if no such run exists */
  giveUpOne(tenant: string): boolean {
    for (const lane of this.#lanes.values()) {
      const code = lane.error?.code;
      if (lane.tenant === tenant || lane.isBusy) continue;
      if (code !== 'quota_exceeded' && code !== 'storage_exceeded') continue;
      const kept = lane.runs.shift();
      if (kept === undefined) continue;
      this.#settle(kept.run);
      this.#tools.onLost(kept.run, kept.run.parts.length, code);
      return true;
    }
    return false;
  }

  /** Finishes deliveries in progress; the rest stays for the next start. */
  async close(): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#underWay);
  }

  #pump(): void {
    if (this.#end.signal.aborted) return;
    for (const lane of this.#lanes.values()) {
      if (this.#underWay.size >= CONCURRENCY) return;
      if (lane.isBusy || lane.error !== null) continue;
      if (lane.runs.length === 0) this.#lanes.delete(lane.tenant);
      else this.#start(lane);
    }
  }

  #start(lane: Lane): void {
    lane.isBusy = true;
    const work = this.#pass(lane).finally(() => {
      this.#underWay.delete(work);
      this.#pump();
    });
    this.#underWay.add(work);
  }

  async #pass(lane: Lane): Promise<void> {
    const batch = nextOf(lane.runs);
    const items = batch.flatMap(({ run, share }) =>
      run.parts.map(({ item }) => ({ ...item, trace: withShare(item.trace, share) })),
    );
    const receivedAt = Math.max(...batch.flatMap(({ run }) => run.parts.map((part) => part.receivedAt)));
    try {
      const { refused } = await this.#tools.next.consume({ tenant: lane.tenant, items }, { receivedAt });
      lane.error = null;
      lane.failures = 0;
      if (refused.length > 0) this.#tools.onLost(null, refused.length, refused[0]?.reason ?? 'refused');
      this.#remove(lane, batch, this.#tools.onPassed);
    } catch (error) {
      const known = error instanceof ConsumeError ? error : null;
      if (known !== null && !known.retryable)
        this.#remove(lane, batch, (run) => {
          this.#tools.onLost(run, run.parts.length, known.code);
        });
      else this.#failed(lane, known ?? internal(error));
    } finally {
      lane.isBusy = false;
    }
  }

  #remove(lane: Lane, batch: readonly KeptRun[], onRemoved: (run: HeldRun) => void): void {
    lane.runs.splice(0, batch.length);
    for (const { run } of batch) {
      this.#settle(run);
      onRemoved(run);
    }
  }

  #settle(run: HeldRun): void {
    this.bytes -= run.bytes;
  }

  #failed(lane: Lane, error: ConsumeError): void {
    lane.failures += 1;
    lane.error = error;
    const asked = Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS);
    const waitMs = backoffMs(BACKOFF, lane.failures, asked, Math.random());
    this.#tools.onFailure(error, waitMs);
    void pause(this.#tools.clock, waitMs, this.#end.signal).then(() => {
      this.#again(lane);
    });
  }

  /** Keeps the error until a run is accepted, so that new runs of the user stay refused. */
  #again(lane: Lane): void {
    if (this.#end.signal.aborted) return;
    if (lane.runs.length > 0 && !lane.isBusy) this.#start(lane);
    else {
      lane.error = null;
      this.#pump();
    }
  }
}

/** The first runs, up to the size of a batch. */
function nextOf(runs: readonly KeptRun[]): readonly KeptRun[] {
  let bytes = 0;
  const end = runs.findIndex(({ run }, index) => {
    bytes += run.bytes;
    return index > 0 && (index >= MOST_RUNS || bytes > MOST_BYTES);
  });
  return runs.slice(0, end < 0 ? runs.length : end);
}

function internal(cause: unknown): ConsumeError {
  return new ConsumeError('a later component failed', {
    code: 'internal_error',
    retryable: true,
    cause,
  });
}
