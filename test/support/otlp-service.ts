import type { Test } from 'tap';
import type { Outputs } from '../../src/component/factory.js';
import { statusType } from '../../src/otlp/wire/messages.js';
import { MEDIA_TYPES, type Encoding } from '../../src/otlp/wire/status.js';
import { otlpConfig } from '../../src/receivers/otlp/config.js';
import { otlpReceiver } from '../../src/receivers/otlp/factory.js';
import type { Signal } from '../../src/signal/batch.js';
import { componentSettings } from './component-settings.js';
import type { HandClock } from './hand-clock.js';
import { KEY } from './known-keys.js';
import { startReceiver } from './receiver-service.js';
import type { RecordingLogger } from './recording-logger.js';
import { sectionConfig } from './section-config.js';
import type { PrometheusMeter } from '../../src/telemetry/meter.js';

export interface OtlpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

interface OtlpSent {
  /** Default `protobuf`. */
  readonly encoding?: Encoding;
  readonly body?: Uint8Array | string;
  /** Override the default headers; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly method?: string;
  /** Default `/v1/` and the signal. */
  readonly path?: string;
}

export interface OtlpService {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** `127.0.0.1:PORT` of gRPC */
  readonly grpcAddress: string;
  readonly clock: HandClock;
  readonly meter: PrometheusMeter;
  readonly logger: RecordingLogger;
  /** Sends a request with the good key in the encoding. */
  send(signal: Signal, sent?: OtlpSent): Promise<OtlpAnswer>;
  /** Stops only the receiver; the HTTP listener stays open. */
  shutdown(deadline?: AbortSignal): Promise<void>;
}

/** The receiver with real sockets in front of test consumers. Ends with the test. */
export async function startOtlpService(t: Test, outputs: Outputs, yaml = '{}'): Promise<OtlpService> {
  const settings = componentSettings('otlp');
  const free =
    'protocols: { http: { endpoint: 127.0.0.1:0 }, grpc: { endpoint: 127.0.0.1:0 } }\napi_endpoint: null';
  const receiver = otlpReceiver.create({
    ...settings,
    config: sectionConfig(otlpConfig, free, yaml),
    outputs,
  });
  const { url, announced, shutdown } = await startReceiver(t, receiver, settings);
  return {
    url,
    grpcAddress: announced.replace('grpc://', ''),
    clock: settings.clock,
    meter: settings.meter,
    logger: settings.logger,
    send: async (signal, { encoding = 'protobuf', body = '', headers, method = 'POST', path } = {}) => {
      const all: Record<string, string | null> = {
        authorization: `Bearer ${KEY}`,
        'content-type': MEDIA_TYPES[encoding],
        ...headers,
      };
      const response = await fetch(`${url}${path ?? `/v1/${signal}`}`, {
        method,
        headers: Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
        ...(method === 'GET' ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, bytes };
    },
    shutdown: async (deadline = AbortSignal.timeout(5000)) => shutdown(deadline),
  };
}

/** A comparable `google.rpc.Status`: type names without prefix, details decoded by the caller. */
export function readStatus(answer: Pick<OtlpAnswer, 'headers' | 'bytes'>): {
  readonly code: number;
  readonly message: string;
  /** `RetryInfo`, `BadRequest` */
  readonly details: readonly string[];
} {
  const bare = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
  if (answer.headers.get('content-type') === MEDIA_TYPES.json) {
    const status = JSON.parse(answer.bytes.toString()) as {
      readonly code: number;
      readonly message: string;
      readonly details?: readonly { readonly '@type': string }[];
    };
    const details = (status.details ?? []).map((detail) => bare(detail['@type']));
    return { code: status.code, message: status.message, details };
  }
  const { code = 0, message = '', details = [] } = statusType.decode(answer.bytes);
  return { code, message, details: details.map(({ type_url: type }) => bare(type)) };
}
