import { HttpProblem, type HttpRequest } from '../../component/http.js';
import { quoteLongIntegers } from '../../http/long-integers.js';
import { ReceivedJson, type JsonRules, type PackedJson } from '../../http/received-json.js';
import { limitItems, limitJsonItems } from '../../otlp/decode/item-limit.js';
import { decodeJson } from '../../otlp/decode/json.js';
import { decodeProtobuf } from '../../otlp/decode/protobuf.js';
import { decodeTraces } from '../../otlp/decode/traces.js';
import { plainRequest, type PlainRequest } from '../../otlp/wire/plain-request.js';
import type { ReadTraces } from '../../otlp/wire/read-span.js';
import type { Encoding } from '../../otlp/wire/status.js';
import type { OtlpRequests } from '../../otlp/wire/requests.js';
import type { TelemetrySignal } from '../../signal/batch.js';
import { wholeBuffer } from '../../worker/whole-buffer.js';

/**
 * A request's cost in memory depends on its fields: two bytes may become an object of 200. With 64 MiB a request may have two
 * million fields, which is 20 000 spans with 20 attributes each.
 */
const BYTES_PER_FIELD = 32;
/** With a small limit, such as that of gRPC, real requests come closer to the bound: metrics have a field for every 10 bytes. */
const LEAST_BYTES_PER_FIELD = 4;
const SURE_FIELDS = 1_000_000;

/**
 * Decodes a request from {@link receive}; bytes are protobuf.
 *
 * @param maxBytes the largest request; also limits the number of fields
 * @throws OtlpDecodeError; HttpProblem 400, 413
 */
export function decode<S extends TelemetrySignal>(
  signal: S,
  body: Uint8Array | ReceivedJson,
  maxBytes: number,
): ReceivedRequests[S] {
  if (body instanceof ReceivedJson) {
    const request = body.parse({ prepare: quoteLongIntegers });
    limitJsonItems(signal, request);
    return decodeJson(signal, request);
  }
  const most = maxFields(maxBytes);
  limitItems(signal, body, most);
  return DECODERS[signal](body, most);
}

/** A received request for another thread. */
export interface PackedRequest {
  readonly signal: TelemetrySignal;
  readonly body: Uint8Array<ArrayBuffer> | PackedJson;
  readonly maxBytes: number;
}

/** A received request, to be decoded or forwarded unchanged. */
export interface Received<S extends TelemetrySignal> {
  /** Packs it for another thread; it must not be used here afterwards. Absent: it cannot be packed. */
  readonly pack?: () => PackedRequest;
  /** @throws OtlpDecodeError; HttpProblem 400, 413 */
  readonly decode: () => ReceivedRequests[S];
  /**
   * Summary of a trace request that can be accepted without decoding; null if it has to be decoded.
   *
   * @throws OtlpDecodeError for too many items
   */
  readonly plain?: () => (PlainRequest & { readonly bytes: Uint8Array }) | null;
}

/** @param body, maxBytes as for {@link decode} */
export function received<S extends TelemetrySignal>(
  signal: S,
  body: Uint8Array | ReceivedJson,
  maxBytes: number,
): Received<S> {
  return {
    decode: () => decode(signal, body, maxBytes),
    pack: () => ({ signal, body: body instanceof ReceivedJson ? body.pack() : wholeBuffer(body), maxBytes }),
    plain: () => {
      if (signal !== 'traces' || body instanceof ReceivedJson) return null;
      const most = maxFields(maxBytes);
      limitItems(signal, body, most);
      const found = plainRequest(body, most);
      return found === undefined ? null : { ...found, bytes: body };
    },
  };
}

/** A request that another thread has received. */
export function unpack({ signal, body, maxBytes }: PackedRequest): Received<TelemetrySignal> {
  const unpacked = body instanceof Uint8Array ? body : ReceivedJson.unpack(body, jsonRules(maxBytes));
  return received(signal, unpacked, maxBytes);
}

/** The buffer to transfer with a packed request. */
export function bufferOf({ body }: PackedRequest): ArrayBuffer {
  return body instanceof Uint8Array ? body.buffer : body.bytes.buffer;
}

/** Requests for the mapping: spans of traces are decoded only as far as needed. */
export interface ReceivedRequests extends Omit<OtlpRequests, 'traces'> {
  traces: ReadTraces | OtlpRequests['traces'];
}

const DECODERS: {
  readonly [S in TelemetrySignal]: (body: Uint8Array, maxFields: number) => ReceivedRequests[S];
} = {
  traces: decodeTraces,
  metrics: (body, most) => decodeProtobuf('metrics', body, most),
  logs: (body, most) => decodeProtobuf('logs', body, most),
};

/**
 * Receives a request over HTTP.
 *
 * @param maxBytes as in `decode`
 * @throws HttpProblem 413 for JSON with too many fields, as soon as they have arrived; any error of `request.body`
 */
export function receive(
  request: HttpRequest,
  encoding: Encoding,
  maxBytes: number,
): Promise<Uint8Array | ReceivedJson> {
  return encoding === 'protobuf' ? request.body() : ReceivedJson.receive(request, jsonRules(maxBytes));
}

/** @param maxBytes as in `decode` */
export function jsonRules(maxBytes: number): JsonRules {
  const most = maxFields(maxBytes);
  return { limits: { nodes: most, values: most }, problemOf: tooMuch };
}

function maxFields(maxBytes: number): number {
  const sure = Math.min(maxBytes / LEAST_BYTES_PER_FIELD, SURE_FIELDS);
  return Math.ceil(Math.max(maxBytes / BYTES_PER_FIELD, sure));
}

function tooMuch(excess: string): HttpProblem {
  return new HttpProblem(413, 'body_too_large', `The request ${excess}; send smaller batches.`);
}
