import type {
  ClaimName,
  ClaimRequest,
  Claims,
  DeliveryQueue,
  FinishedAttempt,
  FinishedRules,
} from '../../src/storage/contracts/deliveries.js';

/** Whether a call fails before anything is done, or only its answer is lost. */
type Fault = 'before' | 'after';

/** A queue with one that is real behind it, whose next calls fail as a test wants. */
export class FaultyQueue implements Pick<DeliveryQueue, 'claim' | 'renew' | 'finish'> {
  /** Of the next calls, the first first. */
  readonly faults = { claim: [] as Fault[], renew: [] as Fault[], finish: [] as Fault[] };
  /** What was asked for. */
  readonly claims: ClaimRequest[] = [];
  readonly renewals: (readonly ClaimName[])[] = [];
  /** Whose telling was answered. */
  readonly results: FinishedAttempt[] = [];
  /** Deliveries that were claimed here. */
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
