import { HttpProblem, type FieldError, type HttpRequest } from '../component/http.js';
import type { StructureLimits } from './json-structure.js';
import { ReceivedJson } from './received-json.js';

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;|$)/i;
/** Names of UTF-8 used by clients. */
const UTF_8 = /^utf-?8$/;
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]+)/i;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
/** The limit of a body that a schema checks: twenty errors are reported, but all of them are found. */
const MANAGEMENT_LIMITS: StructureLimits = { nodes: 5000, values: 5000 };
/** How many places are reported where text is not valid Unicode. */
const MAX_HALVES = 20;
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/** Whether its `Content-Type` says so; the request may be without a body all the same. */
export function isJson(request: HttpRequest): boolean {
  return JSON_MEDIA_TYPE.test(request.header('content-type') ?? '');
}

/** Whether its `Content-Type` says JSON in UTF-8, which it is where no charset is named (RFC 8259, 8.1). */
export function isUtf8Json(request: HttpRequest): boolean {
  const charset = CHARSET.exec(request.header('content-type') ?? '')?.[1]?.toLowerCase();
  return isJson(request) && (charset === undefined || UTF_8.test(charset));
}

/**
 * Refuses a request whose body is not JSON, before any of the body is read.
 *
 * @throws HttpProblem 415 `unsupported_media_type` for another `Content-Type`, none, or a charset other than UTF-8.
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
 * Reads a small body of a management route: fields that are null are left out, because null means absent.
 *
 * @throws HttpProblem what `request.body` throws; 400 `invalid_encoding` for text that is not UTF-8; 400 `invalid_json`;
 * 422 `validation_failed` for more than 5000 objects, lists, fields or elements, for more than 1000 levels, and for text with
 * half a surrogate pair, which no store could give back.
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
 * Deletes null fields in place, and finds strings with half a surrogate pair where there may be any. It keeps its own
 * stack, because a body may nest deeper than calls can.
 */
function withoutNulls(root: unknown, mayHoldHalves: boolean): FieldError[] {
  const halves: FieldError[] = [];
  const waiting: { readonly value: unknown; readonly at: string }[] = [{ value: root, at: '' }];
  for (let item = waiting.pop(); item; item = waiting.pop()) {
    const { value, at } = item;
    // The path to a place may be as long as the body, so only those that are reported are written out.
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

/** One step of a JSON Pointer (RFC 6901). */
export function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
