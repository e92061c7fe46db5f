import {
  logVerbosity,
  Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  setLogVerbosity,
  type sendUnaryData,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServiceDefinition,
  type StatusObject,
} from '@grpc/grpc-js';
import { ConsumeError } from '../../component/consume-error.js';
import type { QuotaUsage } from '../../component/consumer.js';
import type { Host, ListenerOptions } from '../../component/host.js';
import type { Identity } from '../../component/identity.js';
import { HttpProblem } from '../../component/http.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { parseEndpoint } from '../../config/endpoint.js';
import { quotaHeaders } from '../../http/quota-headers.js';
import { readTlsFiles } from '../../http/tls.js';
import { encodeExportResponse } from '../../otlp/export-response.js';
import { statusBytes } from '../../otlp/status.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../signal/batch.js';
import type { Admission } from './admission.js';
import { decode } from './decode.js';
import { otlpFailure, problemOf } from './failure.js';
import type { Intake } from './intake.js';

const SERVICES: Readonly<Record<TelemetrySignal, string>> = {
  traces: 'opentelemetry.proto.collector.trace.v1.TraceService',
  metrics: 'opentelemetry.proto.collector.metrics.v1.MetricsService',
  logs: 'opentelemetry.proto.collector.logs.v1.LogsService',
};
/** Where clients of every language look for the details of a failure. */
const DETAILS_HEADER = 'grpc-status-details-bin';

/** Clients open a new connection when they need one. */
const IDLE_MS = 600_000;
/** So that connections whose client is gone without a word are closed. */
const PING_EVERY_MS = 60_000;
const PING_TIMEOUT_MS = 20_000;

export interface GrpcServerOptions {
  readonly endpoint: string;
  readonly tls: ListenerOptions['tls'];
  readonly host: Host;
  readonly intake: Intake;
  readonly admission: Admission;
  /** Before and after decompression. */
  readonly maxMessageBytes: number;
  /** Calls whose message is still on its way. */
  readonly maxCalls: number;
  /** Time for the whole message to arrive, in milliseconds. */
  readonly messageTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** OTLP over gRPC: the Export services of the three signals. */
export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #server: Server;
  /** Who makes a call, from its metadata on. */
  readonly #callers = new WeakMap<Metadata, Identity>();
  #arriving = 0;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    this.#server = new Server({
      'grpc.max_receive_message_length': options.maxMessageBytes,
      'grpc.max_concurrent_streams': options.maxCalls,
      'grpc.max_connection_idle_ms': IDLE_MS,
      'grpc.keepalive_time_ms': PING_EVERY_MS,
      'grpc.keepalive_timeout_ms': PING_TIMEOUT_MS,
      interceptors: [this.#interceptor()],
    });
    for (const signal of TELEMETRY_SIGNALS) {
      this.#server.addService(exportService(signal), {
        Export: (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
          this.#answer(signal, call).then(
            (response) => {
              callback(null, response);
            },
            (error: unknown) => {
              callback(this.#failure(error));
            },
          );
        },
      });
    }
  }

  /** Binds the port. @throws Error that names the endpoint and the cure */
  async start(): Promise<void> {
    const { endpoint, host, tls } = this.#options;
    const address = parseEndpoint(endpoint);
    if (address === undefined)
      throw new Error(
        `gRPC listener: ${JSON.stringify(endpoint)} is no endpoint; write host:port, as in 127.0.0.1:4317`,
      );
    const name = hostName(address.host);
    // The library prints to standard error what the errors that it gives say as well.
    setLogVerbosity(logVerbosity.NONE);
    try {
      const port = await this.#bind(`${name}:${address.port}`, await credentialsOf(tls));
      host.announce(
        endpoint,
        `grpc://${address.host === '' ? '0.0.0.0' : name}:${port}`,
        Object.values(SERVICES).map((service) => `/${service}/Export`),
      );
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(
        `gRPC listener ${endpoint}: ${reason}. Stop the process that has the port, or set another endpoint`,
        { cause },
      );
    }
  }

  /** Takes no new calls, finishes those under way, and cuts off what is left at the deadline. Safe twice. */
  async shutdown(deadline: AbortSignal): Promise<void> {
    const cut = (): void => {
      this.#server.forceShutdown();
    };
    deadline.addEventListener('abort', cut);
    try {
      await new Promise<void>((resolve) => {
        this.#server.tryShutdown(() => {
          resolve();
        });
        if (deadline.aborted) cut();
      });
    } finally {
      deadline.removeEventListener('abort', cut);
    }
  }

  #bind(address: string, credentials: ServerCredentials): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(address, credentials, (error, port) => {
        if (error) reject(error);
        else resolve(port);
      });
    });
  }

  /** Refuses by the headers alone, before the message is read, and sees to it that the message comes in time. */
  #interceptor(): ServerInterceptor {
    return (_, call) => {
      let settle = (): void => undefined;
      return new ServerInterceptingCall(call, {
        start: (next) => {
          next({
            onReceiveMetadata: (metadata, pass) => {
              try {
                this.#admit(metadata);
              } catch (error) {
                call.sendStatus(this.#failure(error));
                return;
              }
              settle = this.#awaitMessage(() => {
                call.sendStatus(this.#failure(tooSlow()));
              });
              pass(metadata);
            },
            onReceiveMessage: (message, pass) => {
              settle();
              pass(message);
            },
            // Comes at the end of every call.
            onCancel: () => {
              settle();
            },
          });
        },
      });
    };
  }

  /** @throws HttpProblem 401, 403, 503 */
  #admit(metadata: Metadata): void {
    const { host, admission, maxCalls } = this.#options;
    const header = (name: string): string | undefined => metadata.get(name)[0]?.toString();
    const caller = host.authenticate({ header }, 'write');
    admission.check(0);
    if (this.#arriving >= maxCalls)
      throw new HttpProblem(
        503,
        'overloaded',
        'Too many requests are on their way; send this one again later.',
      );
    this.#callers.set(metadata, caller);
  }

  /** @returns a function that ends the waiting; without effect the second time */
  #awaitMessage(onTimeout: () => void): () => void {
    const { clock, messageTimeoutMs } = this.#options;
    this.#arriving++;
    const cancel = clock.after(messageTimeoutMs, onTimeout);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#arriving--;
      cancel();
    };
  }

  async #answer(signal: TelemetrySignal, call: ServerUnaryCall<Buffer, Buffer>): Promise<Buffer> {
    const { intake, admission, maxMessageBytes } = this.#options;
    const caller = this.#callers.get(call.metadata);
    if (caller === undefined) throw new Error('A call came in that nobody has admitted');
    const abort = new AbortController();
    call.on('cancelled', () => {
      abort.abort();
    });
    const bytes = call.request;
    const { rejection, usage } = await admission.run(bytes.length, async () =>
      intake.take(
        signal,
        () => decode(signal, 'protobuf', bytes, maxMessageBytes),
        caller.userId,
        abort.signal,
      ),
    );
    if (usage !== undefined) call.sendMetadata(quotaMetadata(usage));
    return Buffer.from(encodeExportResponse(signal, rejection, 'protobuf'));
  }

  /** What the client is told; a fault of ours goes to the log. */
  #failure(error: unknown): StatusObject {
    const { problem, isFault } = problemOf(error);
    if (isFault)
      this.#options.logger.error(
        { err: error },
        'A gRPC request failed inside the service; its sender was told nothing more.',
      );
    this.#options.admission.noteRefusal('grpc', problem);
    const { grpcStatus, status } = otlpFailure(problem);
    const metadata = quotaMetadata(error instanceof ConsumeError ? error.usage : undefined);
    metadata.set(DETAILS_HEADER, Buffer.from(statusBytes(status)));
    return { code: grpcStatus, details: status.message, metadata };
  }
}

/** The headers that HTTP has, as metadata of the same names. */
function quotaMetadata(usage: QuotaUsage | undefined): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(quotaHeaders(usage))) metadata.set(name, value);
  return metadata;
}

/** Messages stay bytes: they are decoded where they can be refused. */
function exportService(signal: TelemetrySignal): ServiceDefinition {
  const asIs = (bytes: Buffer): Buffer => bytes;
  return {
    Export: {
      path: `/${SERVICES[signal]}/Export`,
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  };
}

async function credentialsOf(tls: ListenerOptions['tls']): Promise<ServerCredentials> {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { cert, key } = await readTlsFiles(tls);
  return ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
}

/** As gRPC writes addresses: IPv6 in brackets, every address as `[::]`, and `localhost` the same as for HTTP listeners. */
function hostName(host: string): string {
  if (host === '') return '[::]';
  if (host.toLowerCase() === 'localhost') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function tooSlow(): HttpProblem {
  return new HttpProblem(408, 'request_timeout', 'The request did not arrive in time; send it again.');
}
