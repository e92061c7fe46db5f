import type { Host } from '../../component/host.js';
import {
  HttpProblem,
  type HttpRequest,
  type HttpResponse,
  type Listener,
  type Route,
  type UnknownPath,
} from '../../component/http.js';
import { isUtf8Json } from '../../http/json-body.js';
import { headersOf } from '../../http/problem.js';
import { quotaHeaders, QUOTA_HEADERS } from '../../http/quota-headers.js';
import { BATCH_ID_HEADER } from '../../otlp/wire/batch-id.js';
import { encodeExportResponse, REJECTED } from '../../otlp/wire/export-response.js';
import { encodeStatus, MEDIA_TYPES, type Encoding } from '../../otlp/wire/status.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../signal/batch.js';
import type { Admission } from './admission.js';
import { receive, received } from './decode.js';
import { otlpFailure, problemOf } from './failure.js';
import { batchIdOf, type Intake } from './intake.js';
import { Type } from 'typebox';
import type { Operation } from '../../component/operation.js';
import type { JsonObject } from '../../signal/attributes.js';

const PROTOBUF = /^application\/x-protobuf[ \t]*(?:;|$)/i;

export interface HttpRoutesOptions {
  /** Prefix of `/v1/traces`. */
  readonly prefix: string;
  readonly host: Host;
  readonly intake: Intake;
  readonly admission: Admission;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/** `POST …/v1/traces`, `…/v1/metrics` and `…/v1/logs`: OTLP/HTTP in both encodings. */
export function httpRoutes(options: HttpRoutesOptions): readonly Route[] {
  const { prefix, admission, maxBodyBytes, bodyTimeoutMs } = options;
  return TELEMETRY_SIGNALS.map((signal) => {
    const limits = { path: `${prefix}/v1/${signal}`, maxBodyBytes, bodyTimeoutMs };
    // The endpoint already contains the path.
    const aliases = [`${limits.path}/v1/${signal}`];
    return {
      method: 'POST',
      ...limits,
      aliases,
      operation: otlpOperation(signal, limits),
      handle: (request) => handle(signal, request, options),
      refuse: (problem, request) => {
        admission.noteRefusal('http', problem);
        return refuse(problem, request);
      },
    };
  });
}

/** Answers requests for other paths of a listener that serves OTLP alone, and for other paths below a prefix. */
export function unknownPaths(
  prefix: string,
  listener: Pick<Listener, 'routes'>,
  log: (path: string) => void,
): UnknownPath {
  const paths = TELEMETRY_SIGNALS.map((signal) => `${prefix}/v1/${signal}`);
  const detail = `There is nothing at this path. OTLP is accepted by POST at ${paths.join(', ')}: set the endpoint of the exporter so that its requests go there.`;
  return (request) => {
    const isOtlp =
      prefix === ''
        ? listener.routes().every(({ path }) => paths.includes(path))
        : request.path === prefix || request.path.startsWith(`${prefix}/`);
    if (!isOtlp) return undefined;
    log(request.path);
    return refuse(new HttpProblem(404, 'not_found', detail), request);
  };
}

/** The part before the first await runs when the head has arrived: a request refused there costs no body. */
async function handle(
  signal: TelemetrySignal,
  request: HttpRequest,
  { host, intake, admission, maxBodyBytes }: HttpRoutesOptions,
): Promise<HttpResponse> {
  const sender = host.authenticate(request, 'write');
  const { userId } = sender;
  const encoding = encodingOf(request);
  if (encoding === undefined) {
    throw new HttpProblem(
      415,
      'unsupported_media_type',
      'The Content-Type must be application/x-protobuf, or application/json in UTF-8.',
      { headers: { accept: Object.values(MEDIA_TYPES).join(', ') } },
    );
  }
  intake.require(signal);
  const batchId = batchIdOf(request);
  admission.check(userId, 0);
  const body = await receive(request, encoding, maxBodyBytes);
  const { rejection, usage } = await admission.run(userId, body.byteLength, async (begin) => {
    try {
      return await intake.take(signal, received(signal, body, maxBodyBytes), sender, {
        abort: request.abort,
        batchId,
        begin,
      });
    } catch (error) {
      const { problem, isFault } = problemOf(error);
      // A fault is thrown unchanged, so that the log has its stack.
      throw isFault ? error : problem;
    }
  });
  return {
    status: 200,
    headers: { ...quotaHeaders(usage), 'content-type': MEDIA_TYPES[encoding] },
    body: encodeExportResponse(signal, rejection, encoding),
  };
}

function refuse(problem: HttpProblem, request: HttpRequest): HttpResponse {
  const encoding = encodingOf(request) ?? 'json';
  const { httpStatus, status } = otlpFailure(problem);
  const { retryAfterSeconds } = status;
  return {
    status: httpStatus,
    headers: {
      ...headersOf(problem),
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
      'content-type': MEDIA_TYPES[encoding],
    },
    body: encodeStatus(status, encoding),
  };
}

function encodingOf(request: HttpRequest): Encoding | undefined {
  if (PROTOBUF.test(request.header('content-type') ?? '')) return 'protobuf';
  return isUtf8Json(request) ? 'json' : undefined;
}

const IDS = { traces: 'exportTraces', metrics: 'exportMetrics', logs: 'exportLogs' } as const;
const FIELDS = { traces: 'resourceSpans', metrics: 'resourceMetrics', logs: 'resourceLogs' } as const;
const TITLES = { traces: 'Traces', metrics: 'Metrics', logs: 'Logs' } as const;

const statusSchema = Type.Object(
  {
    code: Type.Integer({ description: 'gRPC status code.' }),
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
  400: 'The request cannot be decoded, or takes too long to process. Do not send it again.',
  401: 'The key is missing, malformed, unknown, expired or revoked.',
  403: 'The key lacks the scope `write`.',
  413: 'Over the limit, before or after decompression.',
  415: 'Neither protobuf nor JSON, or an unknown content encoding.',
  429: 'The monthly quota would be exceeded (see `X-Quota-Remaining`), or the user exceeds the rate limit. Retry after `Retry-After` seconds.',
  500: 'An internal error; see the log. Do not send the request again.',
  503: 'Overloaded, shutting down, or the store cannot write. Retry after `Retry-After` seconds.',
};

/** The OpenAPI operation of OTLP/HTTP for a signal. */
function otlpOperation(
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
      'An `Export…ServiceRequest` of the OpenTelemetry Protocol. `partialSuccess` says which part was rejected.',
    headers: {
      request: {
        [BATCH_ID_HEADER]:
          'Identifies the request among those of its user, by 1 to 128 letters, digits and `. _ ~ : -`: a repeat within a day adds nothing and gets the same response.',
      },
      response: QUOTA_HEADERS,
    },
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
