import type { TelemetrySignal } from '../../signal/batch.js';
import { responseTypes, type ExportResponse, type PartialSuccess } from './messages.js';
import type { Encoding } from './status.js';

/** The part of the response about rejected items. */
export interface Rejection {
  readonly count: number;
  /** In English, for users. */
  readonly reason: string;
}

/** Field for the number of rejected items, by signal. */
export const REJECTED = {
  traces: 'rejectedSpans',
  metrics: 'rejectedDataPoints',
  logs: 'rejectedLogRecords',
} as const satisfies Readonly<Record<TelemetrySignal, keyof PartialSuccess>>;

/** An `Export…ServiceResponse`. @param rejection undefined if everything was accepted; `partial_success` is then not set */
export function encodeExportResponse(
  signal: TelemetrySignal,
  rejection: Rejection | undefined,
  encoding: Encoding,
): string | Uint8Array {
  const response: ExportResponse =
    rejection === undefined
      ? {}
      : {
          partialSuccess: {
            // The JSON mapping writes 64-bit integers as strings, which the protobuf encoder also accepts.
            [REJECTED[signal]]: String(rejection.count),
            errorMessage: rejection.reason,
          },
        };
  return encoding === 'json' ? JSON.stringify(response) : responseTypes[signal].encode(response).finish();
}
