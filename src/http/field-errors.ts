import { Ajv, type ErrorObject } from 'ajv';
import { HttpProblem, type FieldError } from '../component/http.js';
import { commonFormat } from '../config/rule-messages.js';
import { isUuid, UUID_PATTERN } from '../signal/ids.js';
import { MONEY_PATTERN } from '../signal/money.js';
import { parseTime } from '../signal/time.js';
import { pointerPart } from './json-body.js';

/** Maximum number of reported errors; a request may break any number of rules. */
const MAX_ERRORS = 20;

/** Custom formats of requests. `openapi.json` shows these patterns instead of the format names. */
export const TEXT_PATTERNS = {
  // No pattern can decide whether an address receives mail; `admin@localhost` is valid.
  email: '^[^\\s@<>(),;:"\\\\\\u0000]+@[^\\s@<>(),;:"\\\\\\u0000]+$',
  'not-blank': '\\S',
  'prompt-name': '^(?!\\.{1,2}$)[\\s\\S]*\\S',
  'prompt-label': '^[a-z0-9][a-z0-9._-]{0,63}$',
  slug: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
  name: '^[^\\u0000]*$',
  decimal: MONEY_PATTERN,
  'trace-id': `${UUID_PATTERN}|^(?!0+$)[0-9a-fA-F]{32}$`,
  'span-id': `${UUID_PATTERN}|^(?!0+$)[0-9a-fA-F]{16}$`,
} as const;

const FORMATS: Readonly<
  Record<string, { readonly expectedText: string; readonly isValid: (text: string) => boolean }>
> = {
  uuid: { expectedText: 'must be a UUID', isValid: isUuid },
  'date-time': {
    expectedText: 'must be an ISO 8601 date-time between July 1684 and June 2255',
    isValid: (text) => parseTime(text) !== undefined,
  },
  date: { expectedText: 'must be a date, YYYY-MM-DD', isValid: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) },
  email: { expectedText: 'must be an e-mail address', isValid: matches(TEXT_PATTERNS.email) },
  'not-blank': { expectedText: 'must not be blank', isValid: matches(TEXT_PATTERNS['not-blank']) },
  'prompt-name': {
    expectedText: 'must not be blank, "." or "..", which URLs cannot carry',
    isValid: matches(TEXT_PATTERNS['prompt-name']),
  },
  'prompt-label': {
    expectedText:
      'must be 1 to 64 lower-case letters, digits, ".", "_" or "-", starting with a letter or digit',
    isValid: matches(TEXT_PATTERNS['prompt-label']),
  },
  slug: {
    expectedText: 'must be lower-case letters, digits and, inside, hyphens',
    isValid: matches(TEXT_PATTERNS.slug),
  },
  name: { expectedText: 'must not contain the character U+0000', isValid: matches(TEXT_PATTERNS.name) },
  'trace-id': {
    expectedText: 'must be a UUID, or 32 hexadecimal digits that are not all 0',
    isValid: matches(TEXT_PATTERNS['trace-id']),
  },
  'span-id': {
    expectedText: 'must be a UUID, or 16 hexadecimal digits that are not all 0',
    isValid: matches(TEXT_PATTERNS['span-id']),
  },
};

function matches(pattern: string): (text: string) => boolean {
  const expression = new RegExp(pattern, 'u');
  return (text) => expression.test(text);
}

/**
 * Validates requests: reports all errors at once, fills in defaults, and supports the formats above. It compiles each schema
 * once. `test/api/openapi/openapi.test.ts` checks that all schemas are valid; checking them at every start would take longer than
 * compiling them.
 */
export const validator = new Ajv({
  allErrors: true,
  useDefaults: true,
  strictTypes: false,
  ownProperties: true,
  validateSchema: false,
  formats: Object.fromEntries(Object.entries(FORMATS).map(([name, { isValid }]) => [name, isValid])),
});

/** Keywords for `openapi.json` and for reading queries, which validation ignores. */
validator.addVocabulary(['aliasOf', 'documented', 'prefix', 'refusesLess']);

/**
 * Converts the errors of a schema to field errors for the sender.
 *
 * @param place `pointer` for a body (JSON Pointers), `name` for parameters
 */
export function fieldErrors(
  errors: readonly ErrorObject[] | null | undefined,
  place: 'pointer' | 'name',
): readonly FieldError[] {
  const placesOf = (keyword: string) =>
    new Set((errors ?? []).flatMap((one) => (one.keyword === keyword ? one.instancePath : [])));
  const [unions, formats] = [placesOf('anyOf'), placesOf('format')];
  // Of a value that may be null, only what else it must be is reported; an empty text has no format either.
  const isNoise = ({ keyword, instancePath, params }: ErrorObject): boolean =>
    keyword === 'propertyNames' ||
    (keyword === 'minLength' && formats.has(instancePath)) ||
    (unions.has(instancePath) && (keyword === 'anyOf' || (keyword === 'type' && params['type'] === 'null')));
  const reported = (errors ?? []).filter((error) => !isNoise(error));
  return reported.map((error) => {
    const pointer = error.instancePath + missingPart(error);
    // A parameter such as `metadata.KEY` has a value for each key.
    return {
      field: place === 'pointer' ? pointer : pointer.slice(1).replace('.KEY/', '.'),
      message: expectedText(error),
    };
  });
}

/**
 * The 422 problem that lists the errors.
 *
 * @param part `body`, `query`, `path`, `headers` or `arguments`
 */
export function validationProblem(part: string, errors: readonly FieldError[]): HttpProblem {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const where =
    first && first.field !== '' ? `${first.field} ${first.message}` : `it ${first?.message ?? ''}`;
  return new HttpProblem(
    422,
    'validation_failed',
    `The ${part} ${part.endsWith('s') ? 'break' : 'breaks'} a rule: ${where}${more}.`,
    {
      errors: errors.slice(0, MAX_ERRORS),
    },
  );
}

/** The last step of the pointer if the error is about a missing or an unknown field. */
function missingPart(error: ErrorObject): string {
  const { missingProperty, additionalProperty } = error.params as Record<string, unknown>;
  const name = missingProperty ?? additionalProperty;
  return typeof name === 'string' ? `/${pointerPart(name.slice(0, 100))}` : '';
}

function expectedText(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  const limit = Number(params['limit']);
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    case 'type':
      return `must be ${article(String(params['type']))}`;
    case 'format':
      return FORMATS[String(params['format'])]?.expectedText ?? 'is not valid';
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${limit} entries`;
    case 'maxLength':
      return `must not be longer than ${limit} characters`;
    case 'minimum':
      return `must not be less than ${limit}`;
    case 'maximum':
      return `must not be more than ${limit}`;
    case 'uniqueItems':
      return 'must not have the same entry twice';
    default:
      return commonFormat(error) ?? 'is not valid';
  }
}

function article(type: string): string {
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}
