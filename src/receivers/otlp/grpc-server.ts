import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { ConsumeError } from '../../component/consume-error.js';
import type { Host, ListenerOptions } from '../../component/host.js';
import { HttpProblem } from '../../component/http.js';
import type { Identity } from '../../component/identity.js';
import type { Clock, Logger, Meter, OpenSpan, Traced, Tracer } from '../../component/telemetry.js';
import { parseEndpoint, type Endpoint } from '../../config/endpoint.js';
import { Connections, type ConnectionLimits, type NoRoom } from '../../http/connections.js';
import { ACCEPTED_CODINGS } from '../../http/decompress.js';
import { quotaHeaders } from '../../http/quota-headers.js';
import { SharedUse, Shares } from '../../http/shares.js';
import { encodeExportResponse } from '../../otlp/wire/export-response.js';
import { statusBytes } from '../../otlp/wire/status.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../signal/batch.js';
import type { Admission } from './admission.js';
import { received } from './decode.js';
import { otlpFailure, problemOf } from './failure.js';
import { Code } from './grpc-code.js';
import { GrpcCall } from './grpc-call.js';
import { GrpcConnections } from './grpc-connections.js';
import { createHttp2, listen, type Http2 } from './grpc-http2.js';
import { isGrpc, timeoutMs, type CallStatus } from './grpc-wire.js';
import { batchIdOf, type Intake } from './intake.js';

const SERVICES: Readonly<Record<TelemetrySignal, string>> = {
  traces: 'opentelemetry.proto.collector.trace.v1.TraceService',
  metrics: 'opentelemetry.proto.collector.metrics.v1.MetricsService',
  logs: 'opentelemetry.proto.collector.logs.v1.LogsService',
};
const SIGNALS: ReadonlyMap<string, TelemetrySignal> = new Map(
  TELEMETRY_SIGNALS.map((signal) => [methodOf(signal), signal]),
);

/** The largest message and its compressed form must both fit into the share of one user. */
const MESSAGES_IN_FLIGHT = 2;

export interface GrpcServerOptions {
  readonly endpoint: string;
  readonly tls: ListenerOptions['tls'];
  readonly host: Host;
  readonly intake: Intake;
  readonly admission: Admission;
  /** Before and after decompression. */
  readonly maxMessageBytes: number;
  /**
   * Bytes of all messages that are being received or inflated, or wait for the store; one user can always have two of the
   * largest.
   */
  readonly maxBytesInFlight: number;
  /** Maximum concurrent calls over all connections. */
  readonly maxCalls: number;
  readonly connectionLimits: ConnectionLimits;
  /** Called for each connection that was closed because of a limit: a new one, or one without a call. */
  readonly noteNoRoom: (reason: NoRoom, isNew: boolean) => void;
  /** Time for the whole message to arrive, in milliseconds. */
  readonly messageTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly tracer?: Tracer | undefined;
}

/**
 * OTLP over gRPC: the Export services of the three signals. Built directly on HTTP/2, because gRPC libraries collect and inflate
 * a message before the application sees it; here every byte is counted when it arrives.
 */
export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #calls: Shares;
  readonly #bytes: Shares;
  #http2: Http2 | undefined;
  #connections: GrpcConnections | undefined;
  #isDraining = false;

  constructor(options: GrpcServerOptions) {
    const { maxCalls, maxBytesInFlight, maxMessageBytes, host } = options;
    const { share } = host.userLimits;
    this.#options = options;
    this.#calls = new Shares({ max: maxCalls, share });
    this.#bytes = new Shares({ max: maxBytesInFlight, share });
    this.#bytes.atLeast(Math.ceil((MESSAGES_IN_FLIGHT * maxMessageBytes) / share));
  }

  /** Calls in progress, from their head to the end of their response. */
  get callsUnderWay(): number {
    return this.#calls.used;
  }

  /** Received and inflated bytes of their messages. */
  get messageBytes(): number {
    return this.#bytes.used;
  }

  get connections(): number {
    return this.#connections?.size ?? 0;
  }

  /** Binds the port. @throws Error that names the endpoint and the remedy */
  async start(): Promise<void> {
    const { endpoint, host } = this.#options;
    const address = parseEndpoint(endpoint);
    if (address === undefined)
      throw new Error(
        `gRPC listener: ${JSON.stringify(endpoint)} is not an endpoint; write host:port, as in 127.0.0.1:4317`,
      );
    try {
      const port = await this.#listen(address);
      host.announce(endpoint, `grpc://${address.host === '' ? '0.0.0.0' : nameOf(address.host)}:${port}`, [
        ...SIGNALS.keys(),
      ]);
    } catch (cause) {
      this.#http2?.close();
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(
        `gRPC listener ${endpoint}: ${reason}. Stop the process that uses the port, or set another endpoint`,
        { cause },
      );
    }
  }

  /** @returns whether the certificate has changed @throws Error if the new certificate is invalid; the old one stays in use */
  async reload(): Promise<boolean> {
    return (await this.#http2?.reload()) ?? false;
  }

  /** Accepts no new calls, finishes those in progress, and aborts the rest at the deadline. May be called twice. */
  async shutdown(deadline: AbortSignal): Promise<void> {
    this.#isDraining = true;
    const server = this.#http2?.server;
    this.#http2?.close();
    if (server?.listening !== true) return;
    const cut = (): void => {
      this.#connections?.cut();
    };
    deadline.addEventListener('abort', cut);
    try {
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        this.#connections?.drain();
        if (deadline.aborted) cut();
      });
    } finally {
      deadline.removeEventListener('abort', cut);
    }
  }

  async #listen({ host, port }: Endpoint): Promise<number> {
    const { tls, host: daemon, noteNoRoom, clock } = this.#options;
    const limits = { ...this.#options.connectionLimits, proxies: daemon.trustedProxies };
    this.#http2 = await createHttp2(tls, this.#options);
    const { server } = this.#http2;
    this.#connections = new GrpcConnections(server, new Connections(limits, noteNoRoom), clock);
    this.#watch(server);
    return listen(server, hostOf(host), port);
  }

  #watch(server: Http2Server): void {
    const { logger } = this.#options;
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      void this.#serve(stream, headers);
    });
    // `listen` reports a port in use.
    server.on('error', (error: Error) => {
      if (server.listening) logger.warn({ err: error }, 'The gRPC listener failed.');
    });
  }

  /** Never rejects. */
  async #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const { maxMessageBytes, messageTimeoutMs, host, clock } = this.#options;
    const shared = new SharedUse(this.#bytes);
    const call = new GrpcCall(stream, headers, {
      maxMessageBytes,
      timeoutMs: messageTimeoutMs,
      shared,
      proxies: host.trustedProxies,
      clock,
    });
    const over = call.closed;
    let owner: string | undefined;
    let span: OpenSpan | undefined;
    try {
      const signal = this.#signalOf(call);
      if (signal === undefined) return;
      const caller = this.#admit(call);
      // All refusals up to here used the head alone: nothing of the message was read.
      owner = caller.userId;
      this.#calls.add(owner, 1);
      shared.belongTo(owner);
      span = this.#options.tracer?.begin(tracedCall(signal), call.header('traceparent'));
      const answer = async () => this.#answer(signal, caller, call);
      const { message, metadata } = await (span === undefined ? answer() : span.within(answer));
      call.answer(message, metadata);
      span?.end({ attributes: { 'rpc.grpc.status_code': 0 } });
    } catch (error) {
      const status = this.#statusOf(error, call);
      call.fail(status);
      span?.end({ attributes: { 'rpc.grpc.status_code': status.code }, error: String(status.code) });
    }
    await over;
    call.release();
    if (owner !== undefined) this.#calls.give(owner, 1);
  }

  /**
   * @returns undefined if the call has been refused already.
   * @throws HttpProblem 404 for another service
   */
  #signalOf(call: GrpcCall): TelemetrySignal | undefined {
    if (call.header(':method') !== 'POST') {
      call.refuse(405);
      return undefined;
    }
    if (!isGrpc(call.header('content-type'))) {
      call.refuse(415);
      return undefined;
    }
    const path = call.header(':path') ?? '';
    const signal = SIGNALS.get(path);
    if (signal === undefined)
      throw new HttpProblem(
        404,
        'not_found',
        'There is no such method here; OTLP has Export of three services.',
      );
    return signal;
  }

  /** @throws HttpProblem 401, 403, 429, 503 */
  #admit(call: GrpcCall): Identity {
    const { host, admission } = this.#options;
    const caller = host.authenticate(call, 'write');
    if (this.#isDraining)
      throw new HttpProblem(503, 'shutting_down', 'The daemon is shutting down; send the request again.');
    host.userLimits.enter(caller.userId);
    admission.check(caller.userId, 0);
    if (!this.#calls.fits(caller.userId, 1)) throw tooMany();
    return caller;
  }

  async #answer(
    signal: TelemetrySignal,
    caller: Identity,
    call: GrpcCall,
  ): Promise<{ readonly message: Uint8Array; readonly metadata: Readonly<Record<string, string>> }> {
    const { host, intake, admission, maxMessageBytes, clock } = this.#options;
    const waitMs = timeoutMs(call.header('grpc-timeout'));
    const cancel =
      waitMs === undefined
        ? undefined
        : clock.after(waitMs, () => {
            call.fail({
              code: Code.DEADLINE_EXCEEDED,
              message: 'The deadline of the client has passed.',
              metadata: {},
            });
          });
    try {
      const about = { abort: call.abort, batchId: batchIdOf(call) };
      const bytes = await call.receive();
      host.userLimits.spend(caller.userId, bytes.length);
      const { rejection, usage } = await admission.run(caller.userId, bytes.length, async (begin) =>
        intake.take(signal, received(signal, bytes, maxMessageBytes), caller, { ...about, begin }),
      );
      return {
        message: Buffer.from(encodeExportResponse(signal, rejection, 'protobuf')),
        metadata: quotaHeaders(usage),
      };
    } finally {
      cancel?.();
    }
  }

  /** The status for the client; an internal fault is logged. */
  #statusOf(error: unknown, call: GrpcCall): CallStatus {
    const { problem, isFault } = problemOf(error);
    if (isFault && !call.abort.aborted)
      this.#options.logger.error(
        { err: error },
        'A gRPC request failed because of an internal error; the client received no details.',
      );
    this.#options.admission.noteRefusal('grpc', problem);
    const { grpcStatus, status } = otlpFailure(problem);
    const isUnknownCoding = problem.code === 'unsupported_media_type';
    const code = isUnknownCoding ? Code.UNIMPLEMENTED : grpcStatus;
    return {
      code,
      message: status.message,
      metadata: {
        ...(isUnknownCoding && { 'grpc-accept-encoding': ACCEPTED_CODINGS.join(',') }),
        ...quotaHeaders(error instanceof ConsumeError ? error.usage : undefined),
      },
      details: statusBytes({ ...status, code }),
    };
  }
}

function tracedCall(signal: TelemetrySignal): Traced {
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': SERVICES[signal], 'rpc.method': 'Export' };
  return { name: `${SERVICES[signal]}/Export`, kind: 'server', attributes };
}

function methodOf(signal: TelemetrySignal): string {
  return `/${SERVICES[signal]}/Export`;
}

function tooMany(): HttpProblem {
  return new HttpProblem(503, 'overloaded', 'Too many requests are in progress; send this one again later.');
}

/** `localhost` means the same as for HTTP listeners. */
function hostOf(host: string): string {
  return host.toLowerCase() === 'localhost' ? '127.0.0.1' : host;
}

/** A host as in URLs: IPv6 in brackets. */
function nameOf(host: string): string {
  const name = hostOf(host);
  return name.includes(':') ? `[${name}]` : name;
}
