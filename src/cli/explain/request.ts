import type { OtlpRequests } from '../../otlp/wire/requests.js';
import type { TelemetrySignal } from '../../signal/batch.js';

/** Maximum size of a file, both compressed and decompressed. */
export const MOST_BYTES = 512 * 1024 * 1024;

/** A request of one signal, as decoded by the receiver. */
export type TelemetryRequest = {
  readonly [S in TelemetrySignal]: { readonly signal: S; readonly request: OtlpRequests[S] };
}[TelemetrySignal];

/** A file does not contain telemetry that Jackdaw can read. The message continues a sentence about the file. */
export class UnreadableInput extends Error {
  override readonly name = 'UnreadableInput';
}
