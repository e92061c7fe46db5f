import type { Component } from '../../component/component.js';
import type { Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { TelemetrySignal } from '../../signal/batch.js';
import type { Original, Outcome, OwnTelemetryIntake, RequestInThread } from '../../component/intake.js';
import { endpointOfQuery } from '../../api/support/api.js';
import type { Listener } from '../../component/http.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { durationMs } from '../../config/duration.js';
import { sizeBytes } from '../../config/size.js';
import { tlsOptions } from '../../config/tls.js';
import { Admission } from './admission.js';
import { isSet, type OtlpConfig } from './config.js';
import { received } from './decode.js';
import { GrpcServer } from './grpc-server.js';
import { httpRoutes, unknownPaths } from './http-routes.js';
import { Intake } from './intake.js';
import type { Meter } from '../../component/telemetry.js';
import type { NoRoom } from '../../http/connections.js';

/** Interval of log lines about unknown paths, and the characters of a path in them. */
const UNKNOWN_LOGGED_MS = 20_000;
const MOST_OF_PATH = 200;

/** Receiver `otlp`: see README.md. */
export class OtlpReceiver implements Component, OwnTelemetryIntake {
  readonly #settings: Settings<OtlpConfig> & { readonly outputs: Outputs };
  readonly #intake: Intake;
  readonly #admission: Admission;
  #grpc: GrpcServer | undefined;
  #endGrpcGauges = (): void => undefined;

  constructor(settings: Settings<OtlpConfig> & { readonly outputs: Outputs }) {
    const { id, config, meter } = settings;
    const { requests, bytes } = config.max_in_flight;
    this.#settings = settings;
    this.#intake = new Intake(settings);
    this.#admission = new Admission(id, { requests, bytes: sizeBytes(bytes) }, meter);
  }

  async start(host: Host): Promise<void> {
    const { protocols, api_endpoint: apiEndpoint } = this.#settings.config;
    this.#intake.start(host);
    this.#admission.start(host.userLimits.share);
    const { endpoint, tls } = protocols.http;
    if (isSet(endpoint)) {
      const listener = host.listener(endpoint, { tls: tlsOptions(tls) });
      this.#serve(host, listener, '');
    }
    const api = apiEndpoint === undefined ? endpointOfQuery(host) : apiEndpoint;
    if (isSet(api)) this.#serve(host, host.listener(api), '/api/v1/otlp');
    await this.#startGrpc(host);
  }

  startCopy(original: Original): void {
    this.#intake.startCopy(original);
  }

  answerCopy(message: object): void {
    this.#intake.answerCopy(message);
  }

  stateForCopy(): object {
    return this.#intake.stateForCopy();
  }

  onMessage(message: object): void {
    this.#intake.onMessage(message);
  }

  work(message: object, request: RequestInThread): Promise<unknown> {
    return this.#intake.work(message, request);
  }

  respondFor(draft: object, outcome: Outcome): unknown {
    return this.#intake.respondFor(draft, outcome);
  }

  takesOwn(signal: TelemetrySignal): boolean {
    return this.#settings.outputs[signal] !== undefined;
  }

  /** Takes a request as if it had arrived by HTTP. */
  async takeOwn(signal: TelemetrySignal, body: Uint8Array, userId: string): Promise<number> {
    const most = sizeBytes(this.#settings.config.protocols.http.max_request_body_size);
    const { rejection } = await this.#admission.run(userId, body.byteLength, async (begin) =>
      this.#intake.take(
        signal,
        received(signal, body, most),
        { userId, keyId: null },
        { abort: new AbortController().signal, begin },
      ),
    );
    return rejection?.count ?? 0;
  }

  /** Reloads the gRPC certificate; HTTP listeners reload their own. */
  async reload(): Promise<boolean> {
    return (await this.#grpc?.reload()) ?? false;
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    this.#admission.drain();
    await this.#grpc?.shutdown(deadline);
    this.#endGrpcGauges();
    await this.#admission.close(deadline);
    this.#intake.close();
  }

  #serve(host: Host, listener: Listener, prefix: string): void {
    const { logger, clock } = this.#settings;
    for (const route of this.#routes(host, prefix)) listener.route(route);
    const unknown = new SparseLog(logger, clock, UNKNOWN_LOGGED_MS);
    const log = (path: string): void => {
      const shown = { path: path.slice(0, MOST_OF_PATH) };
      unknown.warn(
        1,
        shown,
        `Refused OTLP requests at an unknown path; send them to ${prefix}/v1/traces, ${prefix}/v1/metrics and ${prefix}/v1/logs.`,
      );
    };
    listener.unknown(unknownPaths(prefix, listener, log));
  }

  #routes(host: Host, prefix: string) {
    const { config } = this.#settings;
    return httpRoutes({
      prefix,
      host,
      intake: this.#intake,
      admission: this.#admission,
      maxBodyBytes: sizeBytes(config.protocols.http.max_request_body_size),
      bodyTimeoutMs: durationMs(config.request_timeout),
    });
  }

  async #startGrpc(host: Host): Promise<void> {
    const { id, config, meter, clock, logger, tracer } = this.#settings;
    const { endpoint, tls, ...limits } = config.protocols.grpc;
    if (!isSet(endpoint)) return;
    this.#grpc = new GrpcServer({
      endpoint,
      tls: tlsOptions(tls),
      host,
      intake: this.#intake,
      admission: this.#admission,
      maxMessageBytes: sizeBytes(limits.max_request_body_size),
      maxBytesInFlight: sizeBytes(limits.max_bodies_in_flight),
      maxCalls: config.max_in_flight.requests,
      connectionLimits: {
        maxConnections: limits.max_connections,
        maxConnectionsPerAddress: limits.max_connections_per_address,
      },
      noteNoRoom: countNoRoom(meter, id),
      messageTimeoutMs: durationMs(config.request_timeout),
      clock,
      logger,
      meter,
      tracer,
    });
    await this.#grpc.start();
    this.#endGrpcGauges = observeGrpc(this.#grpc, meter, id);
  }
}

/**
 * Exports metrics of the connections, calls and bytes of a server.
 *
 * @param id of the receiver
 * @returns a function that ends the observation
 */
function observeGrpc(
  server: Pick<GrpcServer, 'callsUnderWay' | 'messageBytes' | 'connections'>,
  meter: Meter,
  id: string,
): () => void {
  const labels = { receiver: id };
  const gauge = (name: string, description: string, read: () => number) =>
    meter.gauge(name, { description, labelNames: ['receiver'] }, read, labels);
  const endings = [
    gauge('otlp_grpc_calls_under_way', 'gRPC calls in progress.', () => server.callsUnderWay),
    gauge(
      'otlp_grpc_bytes_under_way',
      'Bytes of gRPC messages in progress, received and decompressed.',
      () => server.messageBytes,
    ),
    gauge('otlp_grpc_connections', 'gRPC connections.', () => server.connections),
  ];
  return () => {
    for (const end of endings) end();
  };
}

/**
 * @param id of the receiver
 * @returns a function that counts a connection closed for lack of room
 */
function countNoRoom(meter: Meter, id: string): (reason: NoRoom, isNew: boolean) => void {
  const closed = meter.counter('otlp_grpc_closed_connections_total', {
    description:
      'gRPC connections closed at a limit (reason: total, address), the connection idle the longest first.',
    labelNames: ['receiver', 'reason', 'which'],
  });
  return (reason, isNew) => {
    closed.add(1, { receiver: id, reason, which: isNew ? 'new' : 'idle' });
  };
}
