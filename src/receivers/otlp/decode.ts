import { HttpProblem, type HttpRequest } from '../../component/http.js';
import { parseJsonBytes, receiveJson } from '../../http/json-body.js';
import { quoteLongIntegers } from '../../http/long-integers.js';
import { decodeJson } from '../../otlp/decode-json.js';
import { decodeProtobuf } from '../../otlp/decode-protobuf.js';
import type { Encoding } from '../../otlp/status.js';
import type { OtlpRequests } from '../../otlp/wire.js';
import type { TelemetrySignal } from '../../signal/batch.js';

/**
 * What a request costs in memory depends on its fields: two bytes may become an object of 200. With 64 MiB a request may
 * have two million, which is 20 000 spans with 20 attributes each.
 */
const BYTES_PER_FIELD = 32;
/** Where the limit is a small one, as that of gRPC, real requests come nearer to it: metrics have a field for 10 bytes. */
const LEAST_BYTES_PER_FIELD = 4;
const SURE_FIELDS = 1_000_000;

/**
 * Decodes a request of the given encoding.
 *
 * @param maxBytes the largest request; the number of its fields is bounded by it, too
 * @throws OtlpDecodeError; HttpProblem 400, 413
 */
export function decode<S extends TelemetrySignal>(
  signal: S,
  encoding: Encoding,
  bytes: Uint8Array,
  maxBytes: number,
): OtlpRequests[S] {
  const nodes = maxFields(maxBytes);
  if (encoding === 'protobuf') return decodeProtobuf(signal, bytes, nodes);
  const json = parseJsonBytes(bytes, { nodes }, { problemOf: tooMuch, prepare: quoteLongIntegers });
  return decodeJson(signal, json);
}

/**
 * Receives a request by HTTP.
 *
 * @param maxBytes as of `decode`
 * @throws HttpProblem 413 for a JSON text with too many fields, as soon as they have arrived; what `request.body` throws
 */
export function receive(request: HttpRequest, encoding: Encoding, maxBytes: number): Promise<Uint8Array> {
  return encoding === 'protobuf'
    ? request.body()
    : receiveJson(request, { nodes: maxFields(maxBytes) }, tooMuch);
}

function maxFields(maxBytes: number): number {
  const sure = Math.min(maxBytes / LEAST_BYTES_PER_FIELD, SURE_FIELDS);
  return Math.ceil(Math.max(maxBytes / BYTES_PER_FIELD, sure));
}

function tooMuch(excess: string): HttpProblem {
  return new HttpProblem(413, 'body_too_large', `The request ${excess}; send it in parts.`);
}
