import { Client, compressionAlgorithms, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { Test } from 'tap';
import { int64ToNumber } from '../../src/otlp/wire/int64.js';
import { badRequestType, retryInfoType, statusType } from '../../src/otlp/wire/messages.js';
import type { TelemetrySignal } from '../../src/signal/batch.js';
import { KEY } from './known-keys.js';

/** The method of each signal. */
export const OTLP_METHODS: Readonly<Record<TelemetrySignal, string>> = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
};

export interface GrpcCall {
  readonly key?: string | null;
  readonly gzip?: boolean;
  readonly path?: string;
  /** Receives the headers of a successful response. */
  readonly onMetadata?: (metadata: Metadata) => void;
}

/** Makes gRPC calls with the bytes of the test. */
export function startOtlpGrpcClient(
  t: Pick<Test, 'teardown'>,
  address: string,
  channel = credentials.createInsecure(),
) {
  const clients = [false, true].map(
    (gzip) =>
      new Client(address, channel, {
        'grpc.default_compression_algorithm': gzip
          ? compressionAlgorithms.gzip
          : compressionAlgorithms.identity,
        'grpc.max_send_message_length': -1,
        // No automatic retries.
        'grpc.enable_retries': 0,
      }),
  );
  t.teardown(() => {
    for (const client of clients) client.close();
  });
  const asIs = (bytes: Buffer): Buffer => bytes;
  return (
    signal: TelemetrySignal,
    body: Uint8Array,
    { key = KEY, gzip = false, path, onMetadata }: GrpcCall = {},
  ): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const metadata = new Metadata();
      if (key !== null) metadata.set('authorization', `Bearer ${key}`);
      const [plain, packing] = clients;
      const call = (gzip ? packing : plain)?.makeUnaryRequest(
        path ?? OTLP_METHODS[signal],
        asIs,
        asIs,
        Buffer.from(body),
        metadata,
        (error, response) => {
          if (error) reject(error);
          else resolve(response ?? Buffer.alloc(0));
        },
      );
      call?.on('metadata', (given: Metadata) => onMetadata?.(given));
    });
}

/** The code of a failed call and its details. */
export async function grpcFailureOf(call: Promise<unknown>) {
  const error = await call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (thrown: unknown) => thrown as ServiceError,
  );
  const [binary] = error.metadata.get('grpc-status-details-bin');
  const status = Buffer.isBuffer(binary) ? statusType.decode(binary) : undefined;
  const detail = (name: string) => status?.details?.find(({ type_url: type }) => type.endsWith(name))?.value;
  const retry = detail('.RetryInfo');
  const bad = detail('.BadRequest');
  return {
    code: error.code,
    message: error.details,
    sameCode: status?.code === error.code,
    metadata: error.metadata,
    retryAfter: retry && int64ToNumber(retryInfoType.decode(retry).retryDelay?.seconds ?? 0),
    violations: bad && badRequestType.decode(bad).fieldViolations,
  };
}
