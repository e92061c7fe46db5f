import { ConsumeError } from '../../../component/consume-error.js';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { TokenBuckets } from '../../../component/token-buckets.js';
import { itemAt, invariant } from '../../../signal/checked.js';
import { LoggedByUser } from './logged-by-user.js';
import { changeOf, isOfBatch, type TouchedTrace } from './classify.js';
import type { Change, TruncateChange, TraceChange } from './change.js';
import type { RunSize, SpanRate } from './run-size.js';

/** A stored run that the changes of the group touch, that is not truncated, and whose spans are not in memory. */
export interface RunToLoad {
  readonly key: string;
  readonly trace: TouchedTrace;
  /** The span count of its header. */
  readonly spans: number;
}

/** How the changes of the group are applied instead. */
export type LoadPlan =
  /** Refuse these changes. */
  | { readonly kind: 'refuse'; readonly refused: ReadonlyMap<Change, ConsumeError> }
  /** Commit only the changes before this one. */
  | { readonly kind: 'up_to'; readonly before: Change }
  /** Commit these together before retrying this one. */
  | { readonly kind: 'first'; readonly first: readonly Change[]; readonly before: Change };

/** A group exceeds the load limit of a commit. Nothing was applied yet. */
export class TooMuchToLoad extends Error {
  readonly plan: LoadPlan;

  constructor(plan: LoadPlan) {
    super('a commit would load too much');
    this.plan = plan;
  }
}

/**
 * Limits the loading of runs that are not in memory, which takes time and memory from all users. Decides by the span counts of
 * their headers, before loading: per commit, over all users, and per user. If a user exceeds its allowance for long runs, further
 * ones are truncated: commits then no longer load them. Truncating a run loads it once more, so if a single change exceeds the
 * limit of a commit, its largest runs are truncated in earlier commits. Also limits how many spans of runs in memory are recomputed.
 */
export class Reloads {
  readonly #size: RunSize;
  readonly #logger: Logger;
  readonly #logged: LoggedByUser;
  /** For long runs, until they are truncated. */
  readonly #followed: Allowance;
  /** For all runs with more than a few spans. */
  readonly #loaded: Allowance;
  /** For runs in memory with more than a few spans. */
  readonly #recomputed: Allowance;
  /** Changes refused since the start. */
  refused = 0;

  constructor(size: RunSize, logger: Logger, clock: Clock) {
    this.#size = size;
    this.#logger = logger;
    this.#logged = new LoggedByUser(clock);
    this.#followed = new Allowance(size.reloads.followed, clock);
    this.#loaded = new Allowance(size.reloads.loaded, clock);
    this.#recomputed = new Allowance(size.reloads.recomputed, clock);
  }

  /**
   * Charges the runs that a group is about to load.
   *
   * @param changes of the group, in order
   * @returns the keys of the runs to truncate in the commit that loads them
   * @throws TooMuchToLoad
   */
  take(changes: readonly TraceChange[], runs: readonly RunToLoad[]): Set<string> {
    if (runs.length > 0) this.#check(changes, runs);
    const toTruncate = new Set<string>();
    // Small runs first, so that as many as possible stay followed.
    for (const run of [...runs].sort((a, b) => a.spans - b.spans)) {
      const { key, spans } = run;
      const { tenant } = run.trace;
      if (spans > this.#size.few && isUsers(run)) this.#loaded.take(tenant, spans);
      if (isToBeTruncated(run)) toTruncate.add(key);
      // A run without new spans is not charged: repeated loads come from spans.
      if (spans <= this.#size.reloads.long || !bringsSpans(run)) continue;
      if (this.#followed.isUsedUp(tenant)) toTruncate.add(key);
      else this.#followed.take(tenant, spans);
    }
    return toTruncate;
  }

  /**
   * Refuses changes of users who have used up their allowance for recomputing runs in memory.
   *
   * @throws TooMuchToLoad
   */
  checkRecomputed(runs: readonly RunToLoad[]): void {
    this.#refuse(runs, this.#recomputed, 'recomputed');
  }

  /** Charges the spans of a run in memory that a commit recomputes. */
  recompute(tenant: number, spans: number): void {
    if (spans > this.#size.few) this.#recomputed.take(tenant, spans);
  }

  /** @throws TooMuchToLoad */
  #check(changes: readonly TraceChange[], runs: readonly RunToLoad[]): void {
    this.#refuse(runs, this.#loaded, 'loaded');
    const found = byChange(changes, runs);
    let sum = 0;
    for (const [place, { change, runs: ofChange }] of found.entries()) {
      const spans = sumOf(ofChange);
      if (place > 0 && spans > 0 && sum + spans > this.#size.reloads.atOnce)
        throw new TooMuchToLoad({ kind: 'up_to', before: change });
      sum += spans;
      if (place === 0) this.#checkAlone(change, ofChange, spans);
    }
  }

  /**
   * Refuses all such changes at once, because each retry checks all remaining changes.
   *
   * @throws TooMuchToLoad
   */
  #refuse(runs: readonly RunToLoad[], allowance: Allowance, what: Work): void {
    const refused = new Map<Change, ConsumeError>();
    for (const { trace, spans } of runs) {
      if (spans <= this.#size.few || !allowance.isUsedUp(trace.tenant)) continue;
      for (const part of trace.parts) {
        const change = changeOf(part);
        if (isRefusable(change) && !refused.has(change))
          refused.set(change, this.#refusal(trace.tenant, allowance, what));
      }
    }
    if (refused.size > 0) throw new TooMuchToLoad({ kind: 'refuse', refused });
  }

  /** For the first change: whether it exceeds the limit even in a commit of its own. */
  #checkAlone(change: TraceChange, runs: readonly RunToLoad[], spans: number): void {
    const { few, reloads } = this.#size;
    const { atOnce, truncatedAtOnce, mostAtOnce } = reloads;
    const toTruncate: RunToLoad[] = [];
    let [rest, truncating] = [spans, 0];
    for (const run of runs.filter(bringsSpans).sort((a, b) => b.spans - a.spans)) {
      if (rest <= (run.spans > few ? atOnce : mostAtOnce)) break;
      // The remaining runs are checked at the next attempt.
      if (toTruncate.length > 0 && truncating + run.spans > truncatedAtOnce) break;
      toTruncate.push(run);
      truncating += run.spans;
      rest -= run.spans;
    }
    if (toTruncate.length > 0) {
      throw new TooMuchToLoad({ kind: 'first', first: toTruncate.map(truncationOf), before: change });
    }
  }

  #refusal(tenant: number, allowance: Allowance, what: Work): ConsumeError {
    this.refused++;
    const times = this.#logged.happened(tenant);
    if (times > 0) {
      this.#logger.warn(
        { tenant, times },
        'Refusing writes of a user for a while: they change long runs, and reloading or recomputing those exceeds the budget of the user.',
      );
    }
    return new ConsumeError(
      `More spans of stored runs would have to be ${what} than are allowed for a user.`,
      {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: 1000 * Math.min(MOST_SECONDS, Math.ceil(allowance.secondsUntilFree(tenant))),
        detail: `The request changes long runs that must be ${what}, and too many were ${what} recently; send it again later.`,
      },
    );
  }
}

const MOST_SECONDS = 60;

/** Costs of a change to a long run. */
type Work = 'loaded' | 'recomputed';

/** A span allowance per user: a burst, and a rate per second. The last run may exceed the remaining allowance. */
class Allowance {
  readonly #buckets: TokenBuckets;

  constructor(rate: SpanRate, clock: Clock) {
    this.#buckets = new TokenBuckets(rate, clock);
  }

  isUsedUp(tenant: number): boolean {
    return this.secondsUntilFree(tenant) > 0;
  }

  secondsUntilFree(tenant: number): number {
    return this.#buckets.secondsUntil(String(tenant), 1);
  }

  take(tenant: number, spans: number): void {
    this.#buckets.take(String(tenant), spans);
  }
}

interface OfChange {
  readonly change: TraceChange;
  /** The runs that no earlier change of the group touches. */
  readonly runs: readonly RunToLoad[];
}

function byChange(changes: readonly TraceChange[], runs: readonly RunToLoad[]): OfChange[] {
  const places = new Map(changes.map((change, place) => [change, place]));
  const found = changes.map((change) => ({ change, runs: [] as RunToLoad[] }));
  for (const run of runs) {
    const [first] = run.trace.parts;
    if (first === undefined) continue;
    itemAt(found, invariant(places.get(changeOf(first)), 'change that is about a run')).runs.push(run);
  }
  return found;
}

function sumOf(runs: readonly RunToLoad[]): number {
  return runs.reduce((sum, { spans }) => sum + spans, 0);
}

function bringsSpans({ trace }: RunToLoad): boolean {
  return trace.parts.some(isOfBatch);
}

function isToBeTruncated({ trace }: RunToLoad): boolean {
  return trace.parts.some(({ kind }) => kind === 'truncate');
}

/** Whether a user change requires loading it, rather than internal work of the store. */
function isUsers({ trace }: RunToLoad): boolean {
  return trace.parts.some(({ kind }) => kind !== 'timeout' && kind !== 'remap');
}

/** Whether the sender can retry it. */
function isRefusable({ kind }: TraceChange): boolean {
  return kind === 'batch' || kind === 'outcome' || kind === 'judge' || kind === 'link';
}

function truncationOf({ trace }: RunToLoad): TruncateChange {
  const { tenant, words, offset } = trace;
  return { kind: 'truncate', tenant, words: words.slice(offset, offset + 4) };
}
