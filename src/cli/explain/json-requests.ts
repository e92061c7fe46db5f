import { HttpProblem } from '../../component/http.js';
import { quoteLongIntegers } from '../../http/long-integers.js';
import { ReceivedJson } from '../../http/received-json.js';
import { OtlpDecodeError } from '../../otlp/decode/decode-error.js';
import { decodeJson } from '../../otlp/decode/json.js';
import { jsonRules } from '../../receivers/otlp/decode.js';
import { MOST_BYTES, UnreadableInput, type TelemetryRequest } from './request.js';

const LINE_END = 10;

/**
 * Parses OTLP/JSON requests: one document, a list of documents, or one document a line.
 *
 * @throws UnreadableInput
 */
export function jsonRequests(bytes: Uint8Array): readonly TelemetryRequest[] {
  const whole = attempt(() => requestsOf(bytes));
  if (!(whole instanceof UnreadableInput)) return whole;
  const [first, ...more] = linesOf(bytes);
  // For a document over several lines, or a truncated one, the error of the whole input is more helpful than that of a line.
  if (first === undefined || more.length === 0 || !isJson(first.bytes)) throw whole;
  return [first, ...more].flatMap(({ number, bytes: line }) => {
    const requests = attempt(() => requestsOf(line));
    if (requests instanceof UnreadableInput)
      throw new UnreadableInput(`cannot be read in line ${number}: it ${requests.message}`);
    return requests;
  });
}

function requestsOf(bytes: Uint8Array): readonly TelemetryRequest[] {
  return ofDocument(parsed(bytes));
}

function parsed(bytes: Uint8Array): unknown {
  return ReceivedJson.whole(bytes, jsonRules(MOST_BYTES)).parse({ prepare: quoteLongIntegers });
}

function ofDocument(value: unknown): readonly TelemetryRequest[] {
  if (Array.isArray(value)) return value.flatMap(ofDocument);
  const requests: TelemetryRequest[] = [];
  if (has(value, 'resourceSpans')) requests.push({ signal: 'traces', request: decodeJson('traces', value) });
  if (has(value, 'resourceMetrics'))
    requests.push({ signal: 'metrics', request: decodeJson('metrics', value) });
  if (has(value, 'resourceLogs')) requests.push({ signal: 'logs', request: decodeJson('logs', value) });
  if (requests.length > 0 || isEmpty(value)) return requests;
  throw new UnreadableInput('is not OTLP/JSON: it has none of resourceSpans, resourceMetrics, resourceLogs');
}

function has(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}

/** Whether a value is the form in which exporters write an empty field. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isJson(bytes: Uint8Array): boolean {
  return !(attempt(() => parsed(bytes)) instanceof UnreadableInput);
}

function linesOf(bytes: Uint8Array): { readonly number: number; readonly bytes: Uint8Array }[] {
  const lines: { number: number; bytes: Uint8Array }[] = [];
  let number = 0;
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(LINE_END, start);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    number++;
    if (!line.every(isSpace)) lines.push({ number, bytes: line });
    start = end + 1;
  }
  return lines;
}

export function isSpace(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}

/** @returns the result of `read`, or the problem with the input */
function attempt<Value>(read: () => Value): Value | UnreadableInput {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableInput) return error;
    if (error instanceof OtlpDecodeError)
      return new UnreadableInput(`is not OTLP/JSON: ${error.place} ${error.reason}`);
    if (error instanceof HttpProblem) return new UnreadableInput(`is not JSON: ${error.message}`);
    throw error;
  }
}
