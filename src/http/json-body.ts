import { isAscii, isUtf8 } from 'node:buffer';
import { HttpProblem, type FieldError, type HttpRequest } from '../component/http.js';
import { asciiJson } from './ascii-json.js';
import { findExcess, StructureScan, type StructureLimits } from './json-structure.js';

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;|$)/i;
/** What clients call UTF-8. */
const UTF_8 = /^utf-?8$/;
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]+)/i;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
const BYTE_ORDER_MARK = '\uFEFF';
/** Of a body that a schema checks: twenty errors are told, but all of them are found. */
const MANAGEMENT_LIMITS: StructureLimits = { nodes: 5000, values: 5000 };
/** At least: what opens it and what closes it. */
const BYTES_OF_NODE = 2;
/** Places that are told of text that is no Unicode. */
const MAX_HALVES = 20;
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * Refuses a request whose body is not JSON, before any of the body is read.
 *
 * @throws HttpProblem 415 `unsupported_media_type` for another `Content-Type`, none, or a charset other than UTF-8.
 */
export function requireJson(request: HttpRequest): void {
  const type = request.header('content-type');
  const charset = CHARSET.exec(type ?? '')?.[1]?.toLowerCase();
  if (type !== undefined && JSON_MEDIA_TYPE.test(type) && (charset === undefined || UTF_8.test(charset)))
    return;
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
  const bytes = await receiveJson(request, MANAGEMENT_LIMITS);
  const value = parseJsonBytes(bytes, MANAGEMENT_LIMITS);
  const halves = withoutNulls(value, ESCAPED_SURROGATE.test(Buffer.from(bytes).toString('latin1')));
  if (halves.length > 0)
    throw new HttpProblem(422, 'validation_failed', 'The body holds text that is not valid Unicode.', {
      errors: halves,
    });
  return value;
}

/**
 * Receives a body that is to be parsed. One that is large enough to have too much structure is measured while it arrives, so that
 * a bomb is refused with its first part.
 *
 * @param problemOf what is thrown for too much structure
 * @throws HttpProblem what `request.body` throws; what `problemOf` gives
 */
export function receiveJson(
  request: HttpRequest,
  limits: StructureLimits,
  problemOf = excessProblem,
): Promise<Uint8Array> {
  const length = Number(request.header('content-length') ?? Infinity);
  if (length / BYTES_OF_NODE <= Math.min(limits.nodes, limits.values ?? Infinity)) return request.body();
  const scan = new StructureScan(limits);
  return request.body((piece) => {
    const excess = scan.push(piece);
    return excess === undefined ? undefined : problemOf(excess);
  });
}

/** 422 `validation_failed` for a body that costs more than it may. @param excess as `findExcess` words it */
function excessProblem(excess: string): HttpProblem {
  return new HttpProblem(422, 'validation_failed', `The body ${excess}.`, {
    errors: [{ field: '', message: excess }],
  });
}

/**
 * Parses a body. There is no other way from bytes to values, so that none is parsed whose structure nobody has measured.
 *
 * @param options.problemOf what is thrown for too much structure
 * @param options.prepare from bytes to bytes with the same structure, before they are text
 * @param options.parse from text to values, as `JSON.parse` or the exact `parseJson`
 * @throws HttpProblem 400 `invalid_encoding` for bytes that are not UTF-8; 400 `invalid_json`; what `problemOf` gives
 */
export function parseJsonBytes(
  bytes: Uint8Array,
  limits: StructureLimits,
  {
    problemOf = excessProblem,
    prepare = (measured) => measured,
    parse = JSON.parse,
  }: {
    readonly prepare?: (bytes: Uint8Array) => Uint8Array;
    readonly problemOf?: (excess: string) => HttpProblem;
    readonly parse?: (text: string) => unknown;
  } = {},
): unknown {
  const excess = findExcess(bytes, limits);
  if (excess !== undefined) throw problemOf(excess);
  const prepared = prepare(bytes);
  const buffer = Buffer.from(prepared.buffer, prepared.byteOffset, prepared.byteLength);
  if (isAscii(buffer)) return parseText(buffer.toString('latin1'), parse);
  if (!isUtf8(buffer)) throw new HttpProblem(400, 'invalid_encoding', 'The body is not UTF-8.');
  const ascii = asciiJson(buffer);
  if (ascii !== undefined) {
    try {
      return parse(ascii);
    } catch {
      // The positions in the message would be those of another text.
    }
  }
  return parseText(withoutMark(buffer.toString('utf8')), parse);
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** @throws HttpProblem 400 `invalid_json` */
function parseText(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (cause) {
    const detail =
      text.trim() === ''
        ? 'The body is empty; send a JSON object.'
        : `The body is not valid JSON: ${whereOf(cause)}.`;
    throw new HttpProblem(400, 'invalid_json', detail, { cause });
  }
}

/** What the engine says about the error: its position, or the text around it. */
function whereOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : 'it cannot be read';
  return message.replace(/ is not valid JSON$/, '').replace(/ in JSON at position/, ' at position');
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
    // The name of a place may be as long as the body: only those that are told are written out.
    if (
      typeof value === 'string' &&
      halves.length < MAX_HALVES &&
      mayHoldHalves &&
      LONE_SURROGATE.test(value)
    )
      halves.push({ field: at.slice(0, 200), message: 'holds half of a surrogate pair' });
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
