import { LRUCache } from 'lru-cache';
import { RUNNING } from './rules/rows.js';
import { tenantOf } from './run-key.js';

/** Cache limits in spans: for running runs, and for ended runs, which only receive late spans. */
export interface RememberedSpans {
  readonly running: number;
  readonly ended: number;
}

/** The parts of a cached run that the cache uses. */
interface RememberedRun {
  readonly header: { readonly status: number };
  readonly spans: { readonly weight: number };
}

/** A run with more spans is cached like a running one whatever its status, because more spans are likely. */
const LONG = 1000;

/**
 * A cache of recently changed runs, so that further spans of them need no table reads. Cached runs always equal the stored ones: after a
 * failed commit the writer evicts its runs. When full, the cache first evicts runs of users above their fair share.
 */
export class RememberedRuns<State extends RememberedRun> {
  readonly #running: Shelf<State>;
  readonly #ended: Shelf<State>;

  /** @param most limits; beyond them, the least recently used runs are evicted */
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

/** The runs of a user. Not a `Map`, because finding its first key gets slower with the number of deleted entries. */
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

  /** A user at or above the fair share: this one if it is, else the largest. */
  #withMost(tenant: OfTenant<State>): OfTenant<State> {
    if (tenant.calculatedSize * this.#tenants.size >= this.#weight) return tenant;
    let most = tenant;
    for (const other of this.#tenants.values()) if (other.calculatedSize > most.calculatedSize) most = other;
    return most;
  }
}

/** Unbounded, because the limit applies to all users together. */
function ofTenant<State extends RememberedRun>(): OfTenant<State> {
  return new LRUCache({ maxSize: Number.MAX_SAFE_INTEGER, sizeCalculation: ({ weight }) => weight });
}
