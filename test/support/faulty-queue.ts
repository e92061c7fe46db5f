import type {
  ClaimName,
  ClaimRequest,
  Claims,
  DeliveryQueue,
  FinishedAttempt,
  FinishedRules,
} from '../../src/storage/contracts/deliveries.js';

/** Whether a call fails before it does anything, or only its response is lost. */
type Fault = 'before' | 'after';

/** A proxy of a real queue whose next calls fail as a test defines. */
export class FaultyQueue implements Pick<DeliveryQueue, 'claim' | 'renew' | 'finish'> {
  /** For the next calls, in order. */
  readonly faults = { claim: [] as Fault[], renew: [] as Fault[], finish: [] as Fault[] };
  /** Recorded calls. */
  readonly claims: ClaimRequest[] = [];
  readonly renewals: (readonly ClaimName[])[] = [];
  /** Deliveries whose result was acknowledged. */
  readonly results: FinishedAttempt[] = [];
  /** Deliveries claimed here. */
  given = 0;
  readonly #queue: DeliveryQueue;

  constructor(queue: DeliveryQueue) {
    this.#queue = queue;
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    this.claims.push(request);
    const found = await this.#call('claim', () => this.#queue.claim(request));
    this.given += found.claims.length;
    return found;
  }

  async renew(claims: readonly ClaimName[], leaseMs: number): Promise<readonly ClaimName[]> {
    this.renewals.push(claims);
    return await this.#call('renew', () => this.#queue.renew(claims, leaseMs));
  }

  async finish(results: readonly FinishedAttempt[], rules: FinishedRules): Promise<readonly string[]> {
    const paused = await this.#call('finish', () => this.#queue.finish(results, rules));
    this.results.push(...results);
    return paused;
  }

  async #call<Answer>(what: keyof FaultyQueue['faults'], work: () => Promise<Answer>): Promise<Answer> {
    const fault = this.faults[what].shift();
    if (fault === 'before') throw new Error('the store is out of order');
    const answer = await work();
    if (fault === 'after') throw new Error('the store is out of order');
    return answer;
  }
}
