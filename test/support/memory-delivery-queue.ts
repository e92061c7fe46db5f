import type { Micros } from '../../src/signal/time.js';
import type {
  ClaimRequest,
  Claims,
  DeliveryFigures,
  DeliveryStore,
  FinishedAttempt,
} from '../../src/storage/delivery-store.js';

type Queue = Pick<
  DeliveryStore,
  'claimDeliveries' | 'finishDeliveries' | 'watchDeliveries' | 'removeDeliveries' | 'deliveryFigures'
>;

interface Waiting {
  readonly delivery: number;
  readonly endpoint: string;
  dueAt: Micros;
  attempts: number;
  isUnderWay: boolean;
}

/** The queue of a store, in memory: a test sees every call, and says when calls fail and how long they take. */
export class MemoryDeliveryQueue implements Queue {
  readonly claims: ClaimRequest[] = [];
  /** What was told together. */
  readonly groups: (readonly FinishedAttempt[])[] = [];
  readonly removals: Micros[] = [];
  /** What the next calls throw. */
  readonly faults: { claim: Error[]; finish: Error[]; upkeep: Error[] } = {
    claim: [],
    finish: [],
    upkeep: [],
  };
  figures: DeliveryFigures = { pending: 0, overdueMs: 0 };
  /** What the next result pauses. */
  paused: readonly string[] = [];
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<() => void>();
  #gate: Promise<void> = Promise.resolve();

  /** Adds a delivery that is due at a time, and tells nobody. */
  put(delivery: number, endpoint: string, dueAt: Micros): void {
    this.#waiting.set(delivery, { delivery, endpoint, dueAt, attempts: 0, isUnderWay: false });
  }

  /** Claims unasked what was put first: so many, whatever the time. */
  give(count: number): Claims['claims'] {
    const taken = [...this.#waiting.values()].filter(({ isUnderWay }) => !isUnderWay).slice(0, count);
    return taken.map((one) => this.#take(one));
  }

  /** Tells those who watch. */
  call(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Lets the answers to results wait from now on, until what is returned is called. */
  hold(): () => void {
    let open = (): void => undefined;
    this.#gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  async claimDeliveries(request: ClaimRequest): Promise<Claims> {
    this.claims.push(request);
    throwNext(this.faults.claim);
    const { now, held } = request;
    const waiting = [...this.#waiting.values()].sort((a, b) => a.dueAt - b.dueAt);
    for (const one of waiting)
      one.isUnderWay &&= held.some(
        ({ delivery, lease }) => delivery === one.delivery && lease === one.attempts,
      );
    const taken: Claims['claims'][number][] = [];
    for (const one of waiting) {
      if (taken.length === request.limit || one.dueAt > now) break;
      if (one.isUnderWay || !this.#hasRoom(one.endpoint, request)) continue;
      taken.push(this.#take(one));
    }
    const dues = waiting.flatMap((one) =>
      !one.isUnderWay && this.#hasRoom(one.endpoint, request) ? one.dueAt : [],
    );
    return { claims: taken, nextDueAt: dues.length === 0 ? null : Math.min(...dues) };
  }

  async finishDeliveries(finished: readonly FinishedAttempt[]): Promise<readonly string[]> {
    throwNext(this.faults.finish);
    this.groups.push(finished);
    for (const { delivery, lease, succeeded, retryAt } of finished) {
      const one = this.#waiting.get(delivery);
      if (!one?.isUnderWay || one.attempts !== lease) continue;
      one.isUnderWay = false;
      if (succeeded || retryAt === null) this.#waiting.delete(delivery);
      else one.dueAt = retryAt;
    }
    const { paused } = this;
    this.paused = [];
    await this.#gate;
    return paused;
  }

  watchDeliveries(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async removeDeliveries(before: Micros): Promise<number> {
    throwNext(this.faults.upkeep);
    this.removals.push(before);
    return 1;
  }

  async deliveryFigures(): Promise<DeliveryFigures> {
    return this.figures;
  }

  #take(one: Waiting): Claims['claims'][number] {
    one.isUnderWay = true;
    one.attempts++;
    return claimOf(one);
  }

  #hasRoom(endpoint: string, { perEndpoint }: ClaimRequest): boolean {
    const underWay = [...this.#waiting.values()].filter((one) => one.isUnderWay && one.endpoint === endpoint);
    return underWay.length < perEndpoint;
  }
}

function throwNext(faults: Error[]): void {
  const fault = faults.shift();
  if (fault) throw fault;
}

function claimOf({ delivery, endpoint, attempts }: Waiting): Claims['claims'][number] {
  return {
    delivery,
    lease: attempts,
    delivery_id: `delivery ${delivery}`,
    attempt: attempts,
    isManual: false,
    step: attempts - 1,
    event_id: '0196f000-0000-7000-8000-000000000001',
    event_type: 'trace.failed',
    body: '{}',
    endpoint_id: endpoint,
    url: 'https://hook.test/',
    sealed_secret: '',
  };
}
