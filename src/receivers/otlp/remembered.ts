import type { FailedPart, FailedParts } from '../../otlp/map/failed-parts.js';
import type { LoggedIn, TracedRuns } from './logged-runs.js';

/** Maximum number of remembered users, and of remembered runs per user. */
const MAX_USERS = 1000;
const MAX_RUNS = 1000;
/** Maximum number of runs that a new thread gets. */
const MAX_SENT = 10_000;

/** Where a user's program traces a run. */
interface TracedRun {
  readonly tenant: string;
  readonly run: string;
  readonly where: LoggedIn;
}

/** What a later request may need of an earlier one. */
export interface Memory {
  readonly failures: readonly FailedPart[];
  readonly traced: readonly TracedRun[];
}

/**
 * What the receiver remembers of earlier requests: failed parts of spans, and where programs trace their runs. A run that was forgotten, or
 * lost by a restart, is a run of its own until the next event.
 *
 * Copies send what they learn to the main thread. It sends failures on to all copies; runs are needed only by the copy that gets the user's
 * log records, and by its successor, which may start before the other one has processed its last request.
 */
export class Remembered {
  readonly #failedParts: FailedParts;
  readonly #users = new Map<string, Map<string, LoggedIn>>();
  #send: ((learned: Memory) => void) | undefined;
  /** Not sent yet. */
  #learned: { readonly failures: FailedPart[]; readonly traced: TracedRun[] } | undefined;

  constructor(failedParts: FailedParts) {
    this.#failedParts = failedParts;
    failedParts.onAdd = (failure) => {
      this.#toSend()?.failures.push(failure);
    };
  }

  /** @param send passes on what is learned from requests here, at the end of a step */
  share(send: (learned: Memory) => void): void {
    this.#send = send;
  }

  tracedRuns(tenant: string): TracedRuns {
    return {
      get: (run) => this.#users.get(tenant)?.get(run),
      set: (run, where) => {
        this.#trace({ tenant, run, where });
        this.#toSend()?.traced.push({ tenant, run, where });
      },
    };
  }

  /** Adds what others have learned. */
  add({ failures, traced }: Memory): void {
    for (const failure of failures) this.#failedParts.set(failure);
    for (const run of traced) this.#trace(run);
  }

  /** For a new copy. */
  all(): Memory {
    const traced: TracedRun[] = [];
    for (const [tenant, runs] of [...this.#users].reverse()) {
      if (traced.length + runs.size > MAX_SENT) break;
      for (const [run, where] of runs) traced.push({ tenant, run, where });
    }
    return { failures: this.#failedParts.all(), traced };
  }

  #trace({ tenant, run, where }: TracedRun): void {
    const runs = this.#users.get(tenant) ?? new Map<string, LoggedIn>();
    setNewest(this.#users, tenant, runs, MAX_USERS);
    setNewest(runs, run, where, MAX_RUNS);
  }

  #toSend() {
    const send = this.#send;
    if (send === undefined || this.#learned !== undefined) return this.#learned;
    const learned = (this.#learned = { failures: [], traced: [] });
    queueMicrotask(() => {
      this.#learned = undefined;
      send(learned);
    });
    return learned;
  }
}

/** Sets a value as the newest, and removes the oldest beyond `most`. */
function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
