import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { usageFigure } from '../../../signal/usage-object.js';
import { isObject } from '../json-text.js';
import { objectOf } from './readers.js';

/** Keys of usage objects, in responses and around them. */
const USAGE = ['usage', 'usageMetadata', 'usage_metadata', 'token_usage', 'tokenUsage'];
const MODEL = ['model', 'modelVersion', 'model_name', 'model_id', 'modelId'];
const ANSWER = ['choices', 'candidates', 'content', 'output', 'message', 'replies', 'data', 'embeddings'];
const QUESTION = ['messages', 'contents', 'input', 'prompt'];
/** Keys under which frameworks keep the response of a provider or its details, best first. */
const WITHIN = [
  'response',
  'raw',
  'raw_response',
  'meta',
  'metadata',
  'response_metadata',
  'custom',
  'llm_output',
  'message',
  'replies',
  'generations',
  'result',
];
const DEEPEST = 5;

/** Whether a value is the request to a model or its response, as providers define them. */
export function isModelCall(value: JsonValue): boolean {
  const body = objectOf(value);
  if (body === undefined) return false;
  const hasModel = MODEL.some((key) => typeof body[key] === 'string');
  if (!hasModel) return false;
  return usageOf(body) !== undefined
    ? ANSWER.some((key) => key in body)
    : QUESTION.some((key) => key in body);
}

/** The usage in a response, or in a framework's copy of it. */
export function usageIn(value: JsonValue): JsonObject | undefined {
  return find(value, usageOf, DEEPEST);
}

/** The model in a request or response, or in a framework's copy of it. */
export function modelIn(value: JsonValue): string | undefined {
  return find(value, modelOf, DEEPEST);
}

function usageOf(body: JsonObject): JsonObject | undefined {
  for (const key of USAGE) {
    const usage = body[key];
    if (isObject(usage) && FIGURES.some((figure) => usageFigure(usage, figure) !== undefined)) return usage;
  }
  return undefined;
}

const FIGURES = ['input', 'output', 'total'] as const;

function modelOf(body: JsonObject): string | undefined {
  const model = MODEL.map((key) => body[key]).find((found) => typeof found === 'string' && found !== '');
  return typeof model === 'string' ? model : undefined;
}

/** The first object that has it: the value itself, then the values under {@link WITHIN}; for lists, the first element. */
function find<T>(
  value: JsonValue | undefined,
  read: (body: JsonObject) => T | undefined,
  levels: number,
): T | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  const body = Array.isArray(first) ? first[0] : first;
  if (!isObject(body) || levels === 0) return undefined;
  const found = read(body);
  if (found !== undefined) return found;
  for (const key of WITHIN) {
    const inner = Object.hasOwn(body, key) ? find(body[key], read, levels - 1) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}
