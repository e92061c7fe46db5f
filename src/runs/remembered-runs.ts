import { LRUCache } from 'lru-cache';
import { RUNNING } from './rules/rows.js';
import { tenantOf } from './run-key.js';

/** How many spans are remembered: of runs that go on, and of runs that have ended, for which only stragglers come. */
export interface RememberedSpans {
  readonly running: number;
  readonly ended: number;
}

/** A remembered run, as far as it matters here. */
interface RememberedRun {
  readonly header: { readonly status: number };
  readonly spans: { readonly weight: number };
}

/** A run with more spans is kept like one that goes on, whatever its status is, because more of it will come. */
const LONG = 10_000;

/**
 * The runs that were touched last, so that spans that keep coming for one need no look into the tables. What is here is always
 * what is stored: after a failed commit the writer forgets what that touched. Where there is no room, a user that takes more than
 * its share forgets its own runs first.
 */
export class RememberedRuns<State extends RememberedRun> {
  readonly #running: Shelf<State>;
  readonly #ended: Shelf<State>;

  /** @param most beyond it the runs touched longest ago are forgotten */
  constructor(most: RememberedSpans) {
    this.#running = new Shelf(most.running);
    this.#ended = new Shelf(most.ended);
  }

  get(key: string): State | undefined {
    return this.#running.get(key) ?? this.#ended.get(key);
  }

  /** @param key of the tenant and the run: {@link runKey} */
  put(key: string, state: State): void {
    const goesOn = state.header.status === RUNNING || state.spans.weight > LONG;
    const [shelf, other] = goesOn ? [this.#running, this.#ended] : [this.#ended, this.#running];
    other.forget(key);
    shelf.put(key, state);
  }

  forget(key: string): void {
    this.#running.forget(key);
    this.#ended.forget(key);
  }
}

/** The runs of a user. A `Map` would take a time that grows with what it has forgotten to say which of them comes first. */
type OfTenant<State extends RememberedRun> = LRUCache<
  string,
  { readonly state: State; readonly weight: number }
>;

class Shelf<State extends RememberedRun> {
  readonly #tenants = new Map<string, OfTenant<State>>();
  readonly #most: number;
  #weight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): State | undefined {
    return this.#tenants.get(tenantOf(key))?.peek(key)?.state;
  }

  put(key: string, state: State): void {
    this.forget(key);
    const name = tenantOf(key);
    const tenant = this.#tenants.get(name) ?? ofTenant<State>();
    this.#tenants.set(name, tenant);
    const weight = state.spans.weight + 1;
    tenant.set(key, { state, weight });
    this.#weight += weight;
    while (this.#weight > this.#most) {
      const oldest = this.#withMost(tenant).rkeys().next();
      if (oldest.done === true) break;
      this.forget(oldest.value);
    }
  }

  forget(key: string): void {
    const name = tenantOf(key);
    const tenant = this.#tenants.get(name);
    const known = tenant?.peek(key);
    if (tenant === undefined || known === undefined) return;
    tenant.delete(key);
    this.#weight -= known.weight;
    if (tenant.size === 0) this.#tenants.delete(name);
  }

  /** A user that takes its share or more: this one if it does, else the one that takes most. */
  #withMost(tenant: OfTenant<State>): OfTenant<State> {
    if (tenant.calculatedSize * this.#tenants.size >= this.#weight) return tenant;
    let most = tenant;
    for (const other of this.#tenants.values()) if (other.calculatedSize > most.calculatedSize) most = other;
    return most;
  }
}

/** Bounded by its shelf: the runs of all users together are. */
function ofTenant<State extends RememberedRun>(): OfTenant<State> {
  return new LRUCache({ maxSize: Number.MAX_SAFE_INTEGER, sizeCalculation: ({ weight }) => weight });
}
