/** The last bits of a trace id are random, according to W3C Trace Context (level 2). */
const RANDOM_BITS = 56;
const MOST = 2 ** RANDOM_BITS;

/**
 * Decides by the trace id alone, as OpenTelemetry does (consistent probability sampling): all such samplers with one share keep the
 * same traces, and a larger share keeps all traces of a smaller one.
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
