import type { Settings } from '../../component/factory.js';
import { Conditions } from '../../expressions/conditions.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import { traceScope, traceView, type identityView } from '../../expressions/scope/scopes.js';
import type { TraceHeader, TraceRecord } from '../../signal/trace.js';
import type { SampleConfig } from './config.js';

/** Whether a trace is kept, and the kept share of similar traces: 1 if it is kept because of a condition. */
export type Decision =
  { readonly isKept: true; readonly share: number } | { readonly isKept: false; readonly isRefused: boolean };

const BY_CONDITION: Decision = { isKept: true, share: 1 };
const DROPPED: Decision = { isKept: false, isRefused: false };
const REFUSED: Decision = { isKept: false, isRefused: true };

/** Decides by the conditions and the trace id. */
export class Decider {
  readonly #conditions: Conditions;
  readonly #sampler: IdSampler;
  readonly #byId: Decision;
  readonly failures: EvaluationFailures;

  constructor(settings: Settings<Pick<SampleConfig, 'keep' | 'percentage' | 'on_error'>>) {
    const { keep, percentage, on_error } = settings.config;
    const failures = (this.failures = new EvaluationFailures(settings));
    // A failed condition differs from a false one: an item with an unknown result is kept.
    const onError = on_error === 'keep' ? 'true' : on_error;
    this.#conditions = new Conditions('keep', keep, 'trace', { onError, failures });
    this.#sampler = new IdSampler(percentage);
    this.#byId = { isKept: true, share: percentage / 100 };
  }

  /** Evaluates the conditions first: a run that meets one is kept regardless of its id, so it represents only itself. */
  decide(item: TraceRecord, identity: ReturnType<typeof identityView>): Decision {
    const isChosen = this.#sampler.isKept(item.trace.trace_id);
    if (this.#conditions.areNone || this.#sampler.keepsAll) return isChosen ? this.#byId : DROPPED;
    const verdict = this.#conditions.judge(traceScope(traceView(item), identity));
    if (verdict === 'true') return BY_CONDITION;
    if (isChosen) return this.#byId;
    return verdict === 'refuse' ? REFUSED : DROPPED;
  }
}

/**
 * Sets the sampled share in a header, if only some runs are kept. An earlier sampler used the same bits of the id, so the lower of
 * both shares applies, not their product.
 */
export function withShare(trace: TraceHeader, share: number): TraceHeader {
  return { ...trace, sample_rate: Math.min(trace.sample_rate ?? 1, share) };
}

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
