import type { Micros } from '../../../signal/time.js';
import { HeldRun, keyOf, type Part } from './held-run.js';

/** How long runs are held, in microseconds. */
export interface Waits {
  /** Since the last part arrived. */
  readonly quiet: number;
  /** Since the end arrived. */
  readonly afterEnd: number;
}

/** Undecided runs, ordered by due time. */
export class HeldRuns {
  readonly #waits: Waits;
  readonly #runs = new Map<string, HeldRun>();
  /** Running runs by last arrival; ended runs by their end. */
  readonly #goingOn = new Map<string, HeldRun>();
  readonly #ended = new Map<string, HeldRun>();
  /** By user, in the order in which the runs began. */
  readonly #users = new Map<string, { bytes: number; readonly runs: Set<HeldRun> }>();
  bytes = 0;

  constructor(waits: Waits) {
    this.#waits = waits;
  }

  get size(): number {
    return this.#runs.size;
  }

  add(tenant: string, traceId: string, part: Part, now: Micros): void {
    const key = keyOf(tenant, traceId);
    const run = this.#runs.get(key) ?? new HeldRun(tenant, traceId);
    this.#runs.set(key, run);
    const hadEnded = run.endedAt !== null;
    run.add(part, now);
    this.bytes += part.bytes;
    let user = this.#users.get(tenant);
    if (user === undefined) this.#users.set(tenant, (user = { bytes: 0, runs: new Set() }));
    user.bytes += part.bytes;
    user.runs.add(run);
    if (hadEnded) return;
    this.#goingOn.delete(key);
    (run.endedAt === null ? this.#goingOn : this.#ended).set(key, run);
  }

  /** Removes a due run; undefined if missing. */
  takeDue(now: Micros): HeldRun | undefined {
    const [run] = this.#ended.values();
    if (run !== undefined && this.#dueAt(run) <= now) return this.#taken(run);
    const [quiet] = this.#goingOn.values();
    return quiet !== undefined && this.#dueAt(quiet) <= now ? this.#taken(quiet) : undefined;
  }

  /** When the next run is due; null if missing. */
  nextDueAt(): Micros | null {
    const [ended] = this.#ended.values();
    const [quiet] = this.#goingOn.values();
    const times = [ended, quiet].flatMap((run) => (run === undefined ? [] : [this.#dueAt(run)]));
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Removes the oldest run of the user with the largest total, so that no user can force early decisions for others. */
  takeOldest(): HeldRun | undefined {
    let largest: { readonly bytes: number; readonly runs: ReadonlySet<HeldRun> } | undefined;
    for (const user of this.#users.values())
      if (largest === undefined || user.bytes > largest.bytes) largest = user;
    const [oldest] = largest?.runs ?? [];
    return oldest === undefined ? undefined : this.#taken(oldest);
  }

  #dueAt({ endedAt, lastSeenAt }: HeldRun): Micros {
    return endedAt === null ? lastSeenAt + this.#waits.quiet : endedAt + this.#waits.afterEnd;
  }

  #taken(run: HeldRun): HeldRun {
    const { key, tenant, bytes } = run;
    for (const map of [this.#runs, this.#goingOn, this.#ended]) map.delete(key);
    this.bytes -= bytes;
    const user = this.#users.get(tenant);
    if (user !== undefined) {
      user.bytes -= bytes;
      user.runs.delete(run);
      if (user.runs.size === 0) this.#users.delete(tenant);
    }
    return run;
  }
}
