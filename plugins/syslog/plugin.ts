import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import {
  ConsumeError,
  Type,
  type Static,
  durationMs,
  endpoint,
  duration,
  section,
  type Component,
  type Host,
  type LogRecord,
  type Outputs,
  type Plugin,
  type ReceiverFactory,
  type Settings,
} from 'jackdaw';
import { parseSyslog } from './parse.js';

const configSchema = section({
  endpoint: endpoint({ default: '127.0.0.1:5514', description: 'UDP address to listen on.' }),
  user_id: Type.String({
    description: 'UUID of the user who owns the records; datagrams carry no key.',
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  }),
  max_waiting: Type.Integer({
    default: 10_000,
    minimum: 1,
    description: 'Maximum number of waiting records. Further ones are dropped and counted.',
  }),
  batch_size: Type.Integer({
    default: 500,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of records in a batch.',
  }),
  batch_wait: duration({ default: '200ms', description: 'Maximum time that a record waits for its batch.' }),
});

type Config = Static<typeof configSchema>;

/** Receives syslog by UDP and emits log records, one batch at a time, so that at most one waits for a slow pipeline. */
class SyslogReceiver implements Component {
  readonly #settings: Settings<Config> & { readonly outputs: Outputs };
  readonly #host: string;
  readonly #port: number;
  #waiting: LogRecord[] = [];
  #socket: Socket | undefined;
  #sending: Promise<void> | undefined;
  #hasStopped = false;
  #cancel: () => void = () => undefined;
  readonly #count: (what: 'received' | 'dropped' | 'unreadable', records?: number) => void;

  constructor(settings: Settings<Config> & { readonly outputs: Outputs }) {
    this.#settings = settings;
    const { config, meter, id } = settings;
    const at = config.endpoint.lastIndexOf(':');
    this.#host = config.endpoint.slice(0, at).replace(/^\[|\]$/g, '');
    this.#port = Number(config.endpoint.slice(at + 1));
    const counter = meter.counter('syslog_messages_total', {
      description: 'Syslog messages: received, and of these dropped or unreadable.',
      labelNames: ['receiver', 'result'],
    });
    this.#count = (result, records = 1) => {
      counter.add(records, { receiver: id, result });
    };
    for (const result of ['received', 'dropped', 'unreadable'] as const) this.#count(result, 0);
  }

  async start(host: Host): Promise<void> {
    const socket = createSocket({
      type: this.#host.includes(':') ? 'udp6' : 'udp4',
      recvBufferSize: 1 << 20,
    });
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(this.#port, this.#host === '' ? undefined : this.#host, () => {
        socket.off('error', reject);
        resolve();
      });
    });
    socket.on('error', (error) => {
      host.reportStatus({ level: 'permanent', message: `the socket failed: ${error.message}` });
    });
    socket.on('message', (message, from) => {
      this.#take(message, from);
    });
    const { address, port } = socket.address();
    host.announce(
      this.#settings.config.endpoint,
      `udp://${address.includes(':') ? `[${address}]` : address}:${port}`,
      [],
    );
    // It may have been stopped during binding.
    if (this.#hasStopped) socket.close();
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    if (this.#hasStopped) return;
    this.#hasStopped = true;
    this.#cancel();
    try {
      this.#socket?.close();
    } catch {
      // Not bound yet; `start` closes it.
    }
    deadline.addEventListener('abort', () => {
      this.#drop(this.#waiting.splice(0));
    });
    if (deadline.aborted) this.#drop(this.#waiting.splice(0));
    // Received records are still sent.
    while (this.#sending !== undefined || this.#waiting.length > 0) await (this.#sending ?? this.#send());
  }

  #take(message: Uint8Array, from: RemoteInfo): void {
    const { clock, config } = this.#settings;
    const record = parseSyslog(message, clock.now(), from.address);
    if (record === undefined) {
      this.#count('unreadable');
      return;
    }
    this.#count('received');
    if (this.#waiting.length >= config.max_waiting) {
      this.#drop([record]);
      return;
    }
    this.#waiting.push(record);
    if (this.#sending !== undefined) return;
    if (this.#waiting.length >= config.batch_size) void this.#send();
    else if (this.#waiting.length === 1)
      this.#cancel = clock.after(durationMs(config.batch_wait), () => {
        void this.#send();
      });
  }

  /** Sends the waiting records batch by batch. Their number is limited. */
  #send(): Promise<void> {
    this.#cancel();
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    const { config, outputs, clock, logger } = this.#settings;
    while (this.#waiting.length > 0) {
      const items = this.#waiting.slice(0, config.batch_size);
      try {
        await outputs.logs?.consume(
          { tenant: config.user_id, items: [...items] },
          { receivedAt: clock.now() },
        );
      } catch (error) {
        const mayHelp = error instanceof ConsumeError && error.retryable && !this.#hasStopped;
        if (mayHelp) {
          await this.#pause(error.retryAfterMs ?? 1000);
          continue;
        }
        logger.warn(
          { err: error, records: items.length },
          'Dropped log records that the pipeline did not accept',
        );
        this.#drop(items);
      }
      this.#waiting.splice(0, items.length);
    }
  }

  #drop(records: readonly LogRecord[]): void {
    this.#count('dropped', records.length);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#settings.clock.after(ms, resolve);
      this.#cancel = () => {
        cancel();
        resolve();
      };
    });
  }
}

const syslogReceiver: ReceiverFactory<typeof configSchema> = {
  kind: 'receiver',
  type: 'syslog',
  description: 'Receives syslog messages (RFC 5424 and RFC 3164) by UDP as log records.',
  stability: 'beta',
  signals: ['logs'],
  configSchema,
  create: (settings) => new SyslogReceiver(settings),
};

const plugin: Plugin = { name: 'syslog', apiVersion: 1, factories: [syslogReceiver] };
export default plugin;
