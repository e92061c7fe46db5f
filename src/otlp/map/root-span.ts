import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import {
  EVALUATION_EVENT,
  EVALUATION_LABEL,
  EVALUATION_NAME,
  EVALUATION_VALUE,
  isVerdict,
  truthOf,
} from '../../signal/score.js';
import { storableName, storableText } from './names.js';
import type { Provenance } from './provenance.js';

const DEFAULT_SDK_VERSION = '0.2.0';
/** The attributes that {@link verdictOf} reads, in addition to those of a score. */
export const VERDICT_ATTRIBUTES: readonly string[] = ['success', 'outcome'];

export interface Verdict {
  readonly success: boolean | null;
  readonly outcome: string | null;
}

export const NO_VERDICT: Verdict = { success: null, outcome: null };

/**
 * The outcome of the run according to the root span: its attributes `success` and `outcome`, else an evaluation named `success`.
 * The status does not determine it.
 */
export function verdictOf(
  attributes: JsonObject,
  evaluations: readonly JsonObject[],
  provenance?: Provenance,
): Verdict {
  const evaluation = [attributes, ...evaluations].find((each) => isSuccess(each[EVALUATION_NAME])) ?? {};
  const label = evaluation[EVALUATION_LABEL];
  const success = truthOf(attributes.success);
  const outcome = outcomeOf(attributes.outcome);
  const score = truthOf(evaluation[EVALUATION_VALUE]);
  const verdict = { success: success ?? score ?? truthOf(label), outcome: outcome ?? outcomeOf(label) };
  if (provenance !== undefined) {
    const source = (key: string) => (evaluation === attributes ? key : `event ${EVALUATION_EVENT}`);
    const of = score === null ? EVALUATION_LABEL : EVALUATION_VALUE;
    if (verdict.success !== null) provenance.found('success', success === null ? source(of) : 'success');
    if (verdict.outcome !== null)
      provenance.found('outcome', outcome === null ? source(EVALUATION_LABEL) : 'outcome');
  }
  return verdict;
}

/** Language and version of the SDK, or the version of the instrumentation. */
export function sdkVersionOf({ resource, scope }: Pick<Origin, 'resource' | 'scope'>): string {
  const version = scope?.version;
  const sdk = [resource['telemetry.sdk.language'], resource['telemetry.sdk.version']]
    .filter((part): part is string => typeof part === 'string' && part !== '')
    .join('/');
  return storableName(sdk) || (typeof version === 'string' && storableName(version)) || DEFAULT_SDK_VERSION;
}

function isSuccess(name: JsonValue | undefined): boolean {
  return typeof name === 'string' && isVerdict(name);
}

function outcomeOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? storableText(value) : null;
}
