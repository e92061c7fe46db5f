import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import { isVerdict, truthOf } from '../../signal/score.js';
import { storableName, storableText } from './names.js';

const DEFAULT_SDK_VERSION = '0.2.0';
const EVALUATION_NAME = 'gen_ai.evaluation.name';
const EVALUATION_VALUE = 'gen_ai.evaluation.score.value';
const EVALUATION_LABEL = 'gen_ai.evaluation.score.label';
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
export function verdictOf(attributes: JsonObject, evaluations: readonly JsonObject[]): Verdict {
  const evaluation = evaluationOf(attributes, evaluations);
  return {
    success: truthOf(attributes.success) ?? evaluation.success,
    outcome: outcomeOf(attributes.outcome) ?? evaluation.outcome,
  };
}

/** Language and version of the SDK, or the version of the instrumentation. */
export function sdkVersionOf({ resource, scope }: Pick<Origin, 'resource' | 'scope'>): string {
  const version = scope?.version;
  const sdk = [resource['telemetry.sdk.language'], resource['telemetry.sdk.version']]
    .filter((part): part is string => typeof part === 'string' && part !== '')
    .join('/');
  return storableName(sdk) || (typeof version === 'string' && storableName(version)) || DEFAULT_SDK_VERSION;
}

function evaluationOf(attributes: JsonObject, evaluations: readonly JsonObject[]): Verdict {
  const found = [attributes, ...evaluations].find(
    ({ [EVALUATION_NAME]: name }) => typeof name === 'string' && isVerdict(name),
  );
  const label = found?.[EVALUATION_LABEL];
  return {
    success: truthOf(found?.[EVALUATION_VALUE]) ?? truthOf(label),
    outcome: outcomeOf(label),
  };
}

function outcomeOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? storableText(value) : null;
}
