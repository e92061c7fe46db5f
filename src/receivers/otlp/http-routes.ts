import type { Host } from '../../component/host.js';
import { HttpProblem, type HttpRequest, type HttpResponse, type Route } from '../../component/http.js';
import { isUtf8Json } from '../../http/json-body.js';
import { headersOf } from '../../http/problem.js';
import { quotaHeaders } from '../../http/quota-headers.js';
import { encodeExportResponse } from '../../otlp/wire/export-response.js';
import { encodeStatus, MEDIA_TYPES, type Encoding } from '../../otlp/wire/status.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../signal/batch.js';
import { batchIdOf } from './batch-id.js';
import type { Admission } from './admission.js';
import { receive, received } from './decode.js';
import { otlpFailure, problemOf } from './failure.js';
import type { Intake } from './intake.js';
import { otlpOperation } from './operations.js';

const PROTOBUF = /^application\/x-protobuf[ \t]*(?:;|$)/i;

export interface HttpRoutesOptions {
  /** What comes before `/v1/traces`. */
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
    return {
      method: 'POST',
      ...limits,
      operation: otlpOperation(signal, limits),
      handle: (request) => handle(signal, request, options),
      refuse: (problem, request) => {
        admission.noteRefusal('http', problem);
        return refuse(problem, request);
      },
    };
  });
}

/** The part before the first await runs when the head has arrived: a request refused here costs no body. */
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
  const { rejection, usage } = await admission.run(userId, body.byteLength, async () => {
    try {
      return await intake.take(signal, received(signal, body, maxBodyBytes), sender, {
        abort: request.abort,
        batchId,
      });
    } catch (error) {
      const { problem, isFault } = problemOf(error);
      // A fault is thrown as it is, so that the log has its stack.
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
