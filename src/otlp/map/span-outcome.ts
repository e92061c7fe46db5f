import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { RunStatus } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { Origin } from '../../signal/origin.js';
import type { Span } from '../wire/requests.js';
import { CONVENTIONS } from './clients/index.js';
import { isObject, parseStructure } from './json-text.js';
import { storableText } from './names.js';
import type { ReadEvents } from './span-events.js';
import type { SpanReading } from './span-reading.js';
import type { Ground } from './provenance.js';

const UNSET = 0;
const OK = 1;
const ERROR = 2;
const IS_GEN_AI = ['kind', 'is_tool', 'is_model', 'is_mcp', 'is_agent'] as const;
const STATUS_CODE = 'code of the status';
const FAILED_BY_EXCEPTION: ReadonlySet<unknown> = new Set(
  CONVENTIONS.flatMap(({ failedByException }) => failedByException ?? []),
);
const TIMEOUT = /timeout|deadline/i;
/** The start of a stack trace appended to a message, in Python and JavaScript. */
const STACK = /Traceback \(most recent call last\):|\n[ \t]+at \S|\n[ \t]+File "/;

/** The status of a span. @param ended null if it has no end */
export function statusOf(
  span: Pick<Span, 'status'>,
  ended: Micros | null,
  reading: SpanReading,
  exception: ReadEvents['exception'],
  { scope }: Origin,
): RunStatus {
  const code = span.status?.code ?? 0;
  const isTimeout = TIMEOUT.test(reading.text('error_type') ?? '') || TIMEOUT.test(exception?.type ?? '');
  const { provenance } = reading;
  if (isTimeout && code !== OK) {
    provenance?.decided('status', 'type of the error');
    return 'timed_out';
  }
  if (code === ERROR) {
    provenance?.decided('status', STATUS_CODE);
    return 'failed';
  }
  // Some clients report status OK for the call of a tool that failed.
  if (reading.has('is_failed')) {
    provenance?.decided('status', 'is_failed');
    return 'failed';
  }
  // Some instrumentations of models and tools report the error, but no status.
  if (code === UNSET && reading.has('error_type') && IS_GEN_AI.some((field) => reading.has(field))) {
    provenance?.decided('status', 'error_type');
    return 'failed';
  }
  if (exception !== undefined && code !== OK && FAILED_BY_EXCEPTION.has(scope?.name)) {
    provenance?.decided('status', 'event exception');
    return 'failed';
  }
  if (reading.has('is_pending')) provenance?.decided('status', 'is_pending');
  else provenance?.decided('status', ended === null ? 'it has no end' : STATUS_CODE);
  return ended === null || reading.has('is_pending') ? 'running' : 'completed';
}

/**
 * The error of a span without a stack trace, from the first source that has one: its last exception, its status message, its HTTP
 * status, a tool's result, the type of the error.
 */
export function errorOf(
  span: Pick<Span, 'status'>,
  status: RunStatus,
  reading: SpanReading,
  exception: ReadEvents['exception'],
  output: JsonObject | null,
): string | null {
  if (status !== 'failed' && status !== 'timed_out') return null;
  const text =
    withSource(exceptionText(exception), 'event exception', reading) ||
    withSource(withoutStack(plainText(span.status?.message ?? '')), 'message of the status', reading) ||
    withSource(withoutStack(plainText(reading.text('status_message') ?? '')), 'status_message', reading) ||
    withSource(httpStatus(reading), 'http_status', reading) ||
    withSource(toolError(reading, output?.result), 'result of the tool', reading) ||
    withSource(reading.text('error_type') ?? '', 'error_type', reading);
  return text === '' ? null : storableText(text);
}

function withSource(text: string, ground: Ground, { provenance }: SpanReading): string {
  if (text !== '') provenance?.decided('error_message', ground);
  return text;
}

/** Type and message of an exception, without a stack trace. */
export function exceptionText(exception: ReadEvents['exception']): string {
  if (exception === undefined) return '';
  const { type, message } = exception;
  const plain = plainText(message);
  return withoutStack(type === '' || plain === '' ? type || plain : `${type}: ${plain}`);
}

/** The message in a provider's answer that an SDK raises as it is, `{"error":{"message":"…"}}`; any other text unchanged. */
function plainText(text: string): string {
  const answer = text.startsWith('{') && text.includes('"error"') ? parseStructure(text) : undefined;
  const error = isObject(answer) ? answer.error : undefined;
  const message = isObject(error) ? error.message : undefined;
  return typeof message === 'string' && message !== '' ? message : text;
}

function withoutStack(text: string): string {
  const at = text.search(STACK);
  return (at < 0 ? text : text.slice(0, at)).trim();
}

function httpStatus(reading: SpanReading): string {
  const code = reading.count('http_status');
  return code === null || code < 400 ? '' : `HTTP ${code}`;
}

/** The error text of a tool that only its own status reports as failed. */
function toolError(reading: SpanReading, result: JsonValue | undefined): string {
  if (!reading.has('is_failed') || result === undefined) return '';
  const error = isObject(result) ? result.error : result;
  return typeof error === 'string' ? error : '';
}
