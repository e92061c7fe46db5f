import { createHash } from 'node:crypto';
import { serializeJson } from '../../../signal/json.js';
import { serializeSummary } from '../trace-body.js';
import type { Runs, StoredScore } from '../../../storage/contracts/runs.js';

/** Interval at which an open run is checked without new data, since it may have timed out. */
const LOOK_MS = 15_000;

/** A `seq` that selects no spans. */
const NONE = Number.MAX_SAFE_INTEGER;

interface Followed {
  /** The last `seq` whose spans were sent; null if the run is not known yet. */
  seq: number | null;
  isDue: boolean;
  /** The last header that was sent; it is sent again only after a change. */
  status: string | null;
  /** Digest of the last scores that were sent; they are sent again only after a change. Null: none were. */
  scores: string | null;
  lookedAtMs: number;
}

/** An update of a run. */
export type TraceUpdate =
  | { readonly traceId: string; readonly summary: Uint8Array }
  /** The update is too large for an event. */
  | { readonly traceId: string; readonly summary: null };

/** The runs that a stream follows, each from the client's position. */
export class FollowedTraces {
  readonly #runs: Pick<Runs, 'traceSummary' | 'scores'>;
  readonly #userId: string;
  readonly #traces: Map<string, Followed>;

  constructor(
    runs: Pick<Runs, 'traceSummary' | 'scores'>,
    userId: string,
    traces: ReadonlyMap<string, number | null>,
  ) {
    this.#runs = runs;
    this.#userId = userId;
    this.#traces = new Map(
      [...traces].map(([id, seq]) => [id, { seq, isDue: true, status: null, scores: null, lookedAtMs: 0 }]),
    );
  }

  /** Marks a run as changed. */
  touched(traceId: string): void {
    const followed = this.#traces.get(traceId);
    if (followed) followed.isDue = true;
  }

  /** Marks all runs as changed, if the changed ones are unknown. */
  allTouched(): void {
    for (const followed of this.#traces.values()) followed.isDue = true;
  }

  /**
   * The updates of each run, read one after another.
   *
   * @throws ConsumeError if the store cannot be read; the update stays due
   */
  async *updates(nowMs: number, abort: AbortSignal): AsyncGenerator<TraceUpdate> {
    for (const [traceId, followed] of this.#traces) {
      if (!isDueAt(followed, nowMs)) continue;
      const wasTouched = followed.isDue;
      followed.isDue = false;
      followed.lookedAtMs = nowMs;
      try {
        const update = await this.#updateOf(traceId, followed, wasTouched, abort);
        if (update !== undefined) yield update;
      } catch (error) {
        followed.isDue = true;
        throw error;
      }
    }
  }

  async #updateOf(
    traceId: string,
    followed: Followed,
    wasTouched: boolean,
    abort: AbortSignal,
  ): Promise<TraceUpdate | undefined> {
    const { seq, status } = followed;
    const trace = await this.#runs.traceSummary(this.#userId, traceId, seq ?? NONE, abort);
    if (trace === null) {
      // All data of a new run is unsent.
      followed.seq ??= 0;
      return undefined;
    }
    followed.seq = trace.seq;
    followed.status = trace.status;
    // Without a position, following starts here, so there is no update yet.
    const isUpdate = seq !== null && (wasTouched || trace.status !== status);
    const scores = isUpdate ? await this.#runs.scores(this.#userId, traceId, abort) : [];
    const digest = digestOf(scores);
    const body = await serializeSummary(trace, digest === followed.scores ? null : scores);
    const isWhole = body instanceof Uint8Array;
    if (!isWhole) await body[Symbol.asyncIterator]().return?.();
    if (!isUpdate) return undefined;
    if (isWhole) followed.scores = digest;
    return { traceId, summary: isWhole ? body : null };
  }
}

function isDueAt({ isDue, status, lookedAtMs }: Followed, nowMs: number): boolean {
  return isDue || (status === 'running' && Math.abs(nowMs - lookedAtMs) >= LOOK_MS);
}

function digestOf(scores: readonly StoredScore[]): string {
  const hash = createHash('sha256');
  for (const score of scores) hash.update(serializeJson(score));
  return hash.digest('base64');
}
