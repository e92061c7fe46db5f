import type { Batches, TelemetrySignal } from '../../signal/batch.js';
import { encodeLogs } from './logs.js';
import { encodeMetrics } from './metrics.js';
import { encodeTraces } from './traces.js';
import { requestTypes, type MessageType } from '../wire/messages.js';
import { VerbatimSpans } from './verbatim.js';
import type { OtlpRequests } from '../wire/requests.js';

const ENCODERS: { readonly [S in TelemetrySignal]: (batch: Batches[S]) => OtlpRequests[S] } = {
  traces: encodeTraces,
  metrics: encodeMetrics,
  logs: encodeLogs,
};

/** A batch as an OTLP request. The batch is not changed; ids in the request may be views of shared bytes. */
export function encodeRequest<S extends TelemetrySignal>(signal: S, batch: Batches[S]): OtlpRequests[S] {
  return ENCODERS[signal](batch);
}

/** A request in protobuf. */
export function encodeProtobuf<S extends TelemetrySignal>(signal: S, request: OtlpRequests[S]): Uint8Array {
  const type: MessageType<OtlpRequests[S]> = requestTypes[signal];
  return type.encode(request).finish();
}

/** A batch as an OTLP request in protobuf. Like {@link encodeRequest}, but faster for spans that are sent unchanged. */
export function encodeBatch<S extends TelemetrySignal>(signal: S, batch: Batches[S]): Uint8Array {
  if (signal !== 'traces') return encodeProtobuf(signal, encodeRequest(signal, batch));
  const verbatim = new VerbatimSpans();
  const others = encodeTraces(batch as Batches['traces'], (span, sent) => verbatim.take(span, sent));
  return Buffer.concat([...verbatim.pieces(), encodeProtobuf('traces', others)]);
}
