import { HttpProblem, type FieldError, type HttpRequest } from '../component/http.js';
import type { StructureLimits } from './json-structure.js';
import { ReceivedJson } from './received-json.js';

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;|$)/i;
/** Names that clients use for UTF-8. */
const UTF_8 = /^utf-?8$/;
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]+)/i;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
/** Limits of a body that is validated by a schema: only twenty errors are reported, but the validator finds all of them. */
const MANAGEMENT_LIMITS: StructureLimits = { nodes: 5000, values: 5000 };
/** Maximum number of reported places with invalid Unicode. */
const MAX_HALVES = 20;
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/** Whether the `Content-Type` is JSON. The request may have no body. */
export function isJson(request: HttpRequest): boolean {
  return JSON_MEDIA_TYPE.test(request.header('content-type') ?? '');
}

/** Whether the `Content-Type` is JSON in UTF-8, which is the default charset (RFC 8259, 8.1). */
export function isUtf8Json(request: HttpRequest): boolean {
  const charset = CHARSET.exec(request.header('content-type') ?? '')?.[1]?.toLowerCase();
  return isJson(request) && (charset === undefined || UTF_8.test(charset));
}

/**
 * Refuses a request whose body is not JSON, before any of the body is read.
 *
 * @throws HttpProblem 415 `unsupported_media_type` for another or no `Content-Type`, or a charset other than UTF-8
 */
export function requireJson(request: HttpRequest): void {
  const type = request.header('content-type');
  if (isUtf8Json(request)) return;
  throw new HttpProblem(
    415,
    'unsupported_media_type',
    type === undefined
      ? 'The body has no Content-Type; send application/json.'
      : 'The body must be application/json in UTF-8.',
    { headers: { accept: 'application/json' } },
  );
}

/**
 * Reads a small body of a management route. Null fields are removed, because null means absent.
 *
 * @throws HttpProblem any error of `request.body`; 400 `invalid_encoding` for text that is not UTF-8; 400 `invalid_json`; 422
 *   `validation_failed` for more than 5000 objects, lists, fields or elements, for more than 1000 levels, and for text with half
 *   a surrogate pair, which no store can return unchanged
 */
export async function readJsonBody(request: HttpRequest): Promise<unknown> {
  const body = await ReceivedJson.receive(request, { limits: MANAGEMENT_LIMITS });
  const value = body.parse();
  const halves = withoutNulls(value, body.holds(ESCAPED_SURROGATE));
  if (halves.length > 0)
    throw new HttpProblem(422, 'validation_failed', 'The body contains text that is not valid Unicode.', {
      errors: halves,
    });
  return value;
}

/**
 * Deletes null fields in place and finds strings with half a surrogate pair, if the text may contain any. It uses its own stack,
 * because a body may nest deeper than the call stack allows.
 */
function withoutNulls(root: unknown, mayHoldHalves: boolean): FieldError[] {
  const halves: FieldError[] = [];
  const waiting: { readonly value: unknown; readonly at: string }[] = [{ value: root, at: '' }];
  for (let item = waiting.pop(); item; item = waiting.pop()) {
    const { value, at } = item;
    // A path may be as long as the body, so only reported paths are built.
    if (
      typeof value === 'string' &&
      halves.length < MAX_HALVES &&
      mayHoldHalves &&
      LONE_SURROGATE.test(value)
    )
      halves.push({ field: at.slice(0, 200), message: 'contains half of a surrogate pair' });
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      if (child === null && !Array.isArray(value)) Reflect.deleteProperty(value, key);
      else if (typeof child === 'object' || mayHoldHalves)
        waiting.push({ value: child as unknown, at: mayHoldHalves ? `${at}/${pointerPart(key)}` : '' });
    }
  }
  return halves;
}

/** Escapes one step of a JSON Pointer (RFC 6901). */
export function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
