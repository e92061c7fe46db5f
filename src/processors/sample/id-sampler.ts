/** As many bits of a trace's id are random, by W3C Trace Context (level 2): the last. */
const RANDOM_BITS = 56;
const MOST = 2 ** RANDOM_BITS;

/**
 * Decides by a trace's id alone, as OpenTelemetry does (consistent probability sampling): everybody who decides so, with whatever
 * share, keeps the same traces, and who has the larger share keeps all that the other one keeps.
 */
export class IdSampler {
  readonly #threshold: bigint;
  /** Whether it keeps everything. */
  readonly keepsAll: boolean;

  /** @param percentage from 0 to 100 */
  constructor(percentage: number) {
    this.keepsAll = percentage >= 100;
    this.#threshold = BigInt(Math.round((1 - percentage / 100) * MOST));
  }

  /** @param traceId UUID */
  isKept(traceId: string): boolean {
    return BigInt(`0x${traceId.slice(21, 23)}${traceId.slice(24)}`) >= this.#threshold;
  }
}
