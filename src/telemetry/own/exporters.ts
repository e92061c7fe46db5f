import { randomBytes } from 'node:crypto';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  LogsExporterMetricsHelper,
  MetricsExporterMetricsHelper,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
  type IExporterMetricsHelper,
  type ISerializer,
} from '@opentelemetry/otlp-transformer';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { TelemetrySignal } from '../../signal/batch.js';

/** A server for OTLP. */
export interface Server {
  readonly kind: 'server';
  readonly protocol: 'http' | 'grpc';
  /** For http, `/v1/traces` and its siblings are appended. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly compression: 'gzip' | 'none';
  readonly timeoutMs: number;
  /** PEM. */
  readonly tls: {
    readonly ca?: Buffer | undefined;
    readonly cert?: Buffer | undefined;
    readonly key?: Buffer | undefined;
    readonly serverName?: string | undefined;
    readonly isVerified: boolean;
  };
}

/** The daemon's own intake. */
export interface Self {
  readonly kind: 'self';
  /** Whose data it is; undefined during the start. */
  readonly userId: () => string | undefined;
  /** @returns the number of rejected items */
  readonly take: (signal: TelemetrySignal, request: Uint8Array) => Promise<number>;
}

/** Where telemetry goes. */
export type Destination = Server | Self;

/** What the processors of the SDK send with. */
export interface ItemExporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** How the items of a signal are sent. */
export interface Form<Items> {
  readonly signal: TelemetrySignal;
  readonly service: string;
  readonly serializer: ISerializer<Items, unknown>;
  /** For metrics of the SDK about itself, which are not collected. */
  readonly helper: IExporterMetricsHelper<Items>;
}

export const SPANS: Form<ReadableSpan[]> = {
  signal: 'traces',
  service: 'opentelemetry.proto.collector.trace.v1.TraceService',
  serializer: ProtobufTraceSerializer,
  helper: TraceExporterMetricsHelper,
};
export const POINTS: Form<ResourceMetrics> = {
  signal: 'metrics',
  service: 'opentelemetry.proto.collector.metrics.v1.MetricsService',
  serializer: ProtobufMetricsSerializer,
  helper: MetricsExporterMetricsHelper,
};
export const RECORDS: Form<ReadableLogRecord[]> = {
  signal: 'logs',
  service: 'opentelemetry.proto.collector.logs.v1.LogsService',
  serializer: ProtobufLogsSerializer,
  helper: LogsExporterMetricsHelper,
};

/**
 * The context of an unsampled trace: a daemon that receives these requests, such as this one, does not trace them, so that two daemons
 * that send to each other cause no endless traffic.
 */
export const TRACEPARENT = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;

/** Requests of a signal that may be in progress at once. */
const CONCURRENCY = 2;
/** Name of an exporter in metrics of the SDK about itself. */
const COMPONENT = 'jackdaw';

/** Uses the delegates of the official exporters, whose classes would also read `OTEL_EXPORTER_OTLP_…` from the environment. */
export async function exporterTo<Items>(
  destination: Destination,
  form: Form<Items>,
): Promise<ItemExporter<Items>> {
  if (destination.kind === 'self') return new SelfExporter(destination, form);
  return destination.protocol === 'grpc' ? grpcExporter(destination, form) : httpExporter(destination, form);
}

function httpExporter<Items>(
  server: Server,
  { signal, serializer, helper }: Form<Items>,
): ItemExporter<Items> {
  const { tls, endpoint } = server;
  const headers = {
    ...server.headers,
    'content-type': 'application/x-protobuf',
    traceparent: TRACEPARENT,
  };
  const options = {
    url: `${endpoint.replace(/\/+$/, '')}/v1/${signal}`,
    headers: async () => ({ ...headers }),
    compression: server.compression,
    concurrencyLimit: CONCURRENCY,
    timeoutMillis: server.timeoutMs,
    userAgent: 'Jackdaw',
    agentFactory: httpAgentFactoryFromOptions({
      keepAlive: true,
      rejectUnauthorized: tls.isVerified,
      ...(tls.ca && { ca: tls.ca }),
      ...(tls.cert && { cert: tls.cert }),
      ...(tls.key && { key: tls.key }),
      ...(tls.serverName !== undefined && { servername: tls.serverName }),
    }),
  };
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(options, serializer, COMPONENT, helper, undefined),
  );
}

async function grpcExporter<Items>(
  server: Server,
  { service, serializer, helper }: Form<Items>,
): Promise<ItemExporter<Items>> {
  const { createOtlpGrpcExportDelegate } = await import('@opentelemetry/otlp-grpc-exporter-base');
  const { credentials, Metadata } = await import('@grpc/grpc-js');
  const { tls } = server;
  const { protocol, host } = new URL(server.endpoint);
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(server.headers)) metadata.set(name, value);
  metadata.set('traceparent', TRACEPARENT);
  const verify = {
    rejectUnauthorized: tls.isVerified,
    ...(tls.serverName !== undefined && { checkServerIdentity: serverNamed(tls.serverName) }),
  };
  const channel =
    protocol === 'https:'
      ? credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null, verify)
      : credentials.createInsecure();
  const options = {
    url: host,
    metadata: () => metadata,
    credentials: () => channel,
    compression: server.compression,
    concurrencyLimit: CONCURRENCY,
    timeoutMillis: server.timeoutMs,
    userAgent: 'Jackdaw',
  };
  return new OTLPExporterBase(
    createOtlpGrpcExportDelegate(
      options,
      serializer,
      COMPONENT,
      helper,
      undefined,
      service,
      `/${service}/Export`,
    ),
  );
}

/** Checks a certificate for another name than that of the host. */
function serverNamed(name: string): (host: string, certificate: PeerCertificate) => Error | undefined {
  return (_host, certificate) => checkServerIdentity(name, certificate);
}

/** Serializes items and gives them to the daemon's own intake. */
class SelfExporter<Items> implements ItemExporter<Items> {
  readonly #self: Self;
  readonly #form: Form<Items>;
  readonly #underWay = new Set<Promise<void>>();

  constructor(self: Self, form: Form<Items>) {
    this.#self = self;
    this.#form = form;
  }

  export(items: Items, done: (result: ExportResult) => void): void {
    const work = this.#send(items).then(
      () => {
        done({ code: ExportResultCode.SUCCESS });
      },
      (error: unknown) => {
        done({
          code: ExportResultCode.FAILED,
          error: error instanceof Error ? error : new Error(String(error)),
        });
      },
    );
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async forceFlush(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async shutdown(): Promise<void> {
    await this.forceFlush();
  }

  async #send(items: Items): Promise<void> {
    const { serializer, signal } = this.#form;
    const request = serializer.serializeRequest(items);
    if (request === undefined) throw new Error(`cannot serialize ${signal}`);
    const rejected = await this.#self.take(signal, request);
    if (rejected > 0) throw new Error(`the pipeline rejected ${rejected} items`);
  }
}
