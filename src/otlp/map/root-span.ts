import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { SpanRecord } from '../../signal/span.js';
import { isObject } from './json-text.js';
import { storableName, storableText } from './names.js';

const DEFAULT_SDK_VERSION = '0.2.0';
const EVALUATION_EVENT = 'gen_ai.evaluation.result';
const YES: ReadonlySet<string> = new Set(['true', 'yes', 'pass', 'passed', 'success', '1']);
const NO: ReadonlySet<string> = new Set(['false', 'no', 'fail', 'failed', 'failure', '0']);

export interface Verdict {
  readonly success: boolean | null;
  readonly outcome: string | null;
}

export const NO_VERDICT: Verdict = { success: null, outcome: null };

/**
 * How the run went, where the root span says so: by the attributes `success` and `outcome`, else by an evaluation named
 * `success`. It does not follow from the status.
 */
export function verdictOf(root: SpanRecord): Verdict {
  const attributes = root.metadata ?? {};
  const evaluation = evaluationOf(attributes);
  return {
    success: truthOf(attributes.success) ?? evaluation.success,
    outcome: outcomeOf(attributes.outcome) ?? evaluation.outcome,
  };
}

/** Language and version of the SDK, or the version of the instrumentation. */
export function sdkVersionOf(metadata: JsonObject): string {
  const resource = isObject(metadata.resource) ? metadata.resource : {};
  const scope = isObject(metadata.scope) ? metadata.scope.version : undefined;
  const sdk = [resource['telemetry.sdk.language'], resource['telemetry.sdk.version']]
    .filter((part): part is string => typeof part === 'string' && part !== '')
    .join('/');
  return storableName(sdk) || (typeof scope === 'string' && storableName(scope)) || DEFAULT_SDK_VERSION;
}

function evaluationOf(attributes: JsonObject): Verdict {
  const events = Array.isArray(attributes.events) ? attributes.events : [];
  const candidates = [
    attributes,
    ...events.map((event) =>
      isObject(event) && event.name === EVALUATION_EVENT && isObject(event.attributes)
        ? event.attributes
        : {},
    ),
  ];
  const found = candidates.find((each) => isSuccess(each['gen_ai.evaluation.name']));
  const label = found?.['gen_ai.evaluation.score.label'];
  return {
    success: truthOf(found?.['gen_ai.evaluation.score.value']) ?? truthOf(label),
    outcome: outcomeOf(label),
  };
}

function isSuccess(name: JsonValue | undefined): boolean {
  return typeof name === 'string' && name.toLowerCase() === 'success';
}

function truthOf(value: JsonValue | undefined): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : null;
  if (typeof value !== 'string') return null;
  const word = value.trim().toLowerCase();
  return YES.has(word) ? true : NO.has(word) ? false : null;
}

function outcomeOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? storableText(value) : null;
}
