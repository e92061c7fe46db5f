import { Type } from 'typebox';
import type { Operation } from '../../component/operation.js';
import { QUOTA_HEADERS_NOTE } from '../../http/quota-headers.js';
import { REJECTED } from '../../otlp/wire/export-response.js';
import { MEDIA_TYPES } from '../../otlp/wire/status.js';
import type { JsonObject } from '../../signal/attributes.js';
import type { TelemetrySignal } from '../../signal/batch.js';

const IDS = { traces: 'exportTraces', metrics: 'exportMetrics', logs: 'exportLogs' } as const;
const FIELDS = { traces: 'resourceSpans', metrics: 'resourceMetrics', logs: 'resourceLogs' } as const;
const TITLES = { traces: 'Traces', metrics: 'Metrics', logs: 'Logs' } as const;

const statusSchema = Type.Object(
  {
    code: Type.Integer({ description: 'The gRPC status code for it.' }),
    message: Type.String(),
    details: Type.Optional(
      Type.Array(Type.Unsafe<JsonObject>({ type: 'object' }), {
        description: '`RetryInfo` and `BadRequest`.',
      }),
    ),
  },
  { title: 'RpcStatus', description: 'google.rpc.Status' },
);

const ERRORS = {
  400: 'The request cannot be decoded. Do not send it again.',
  401: 'The key is missing, malformed, unknown, expired or revoked.',
  403: 'The key lacks the scope `write`.',
  413: 'Over the limit, before or after decompression.',
  415: 'Neither protobuf nor JSON, or an unknown content encoding.',
  429: 'The monthly quota would be exceeded (`X-Quota-Remaining` says what is left), or the user sends more than is accepted in a second. Send it again after `Retry-After` seconds.',
  500: 'An internal error; see the log. Do not send the request again.',
  503: 'Too much at once, stopping, or the store cannot write. Send it again after `Retry-After` seconds.',
};

/** What OTLP/HTTP takes and gives for a signal. */
export function otlpOperation(
  signal: TelemetrySignal,
  route: { readonly path: string; readonly maxBodyBytes: number; readonly bodyTimeoutMs: number },
): Operation {
  const title = TITLES[signal];
  return {
    id: IDS[signal],
    method: 'POST',
    tag: 'otlp',
    summary: `Send ${signal} by OTLP`,
    description:
      'An `Export…ServiceRequest` of the OpenTelemetry Protocol. `partialSuccess` says which part was rejected. ' +
      'A header `jackdaw-batch-id` (1 to 128 letters, digits and `. _ ~ : -`) names the request among those of its user: a repeat of it within a day adds nothing, and is answered as the first was. ' +
      QUOTA_HEADERS_NOTE,
    access: 'write',
    audit: { none: 'Data intake.' },
    body: Type.Object(
      { [FIELDS[signal]]: Type.Optional(Type.Array(Type.Unsafe<JsonObject>({ type: 'object' }))) },
      { title: `Otlp${title}` },
    ),
    responses: {
      200: Type.Object(
        {
          partialSuccess: Type.Optional(
            Type.Object(
              { [REJECTED[signal]]: Type.String({ description: 'A number.' }), errorMessage: Type.String() },
              { title: `Otlp${title}PartialSuccess` },
            ),
          ),
        },
        { title: `Otlp${title}Response` },
      ),
    },
    protocol: { mediaTypes: [MEDIA_TYPES.protobuf], errorBody: statusSchema, errors: ERRORS },
    ...route,
  };
}
