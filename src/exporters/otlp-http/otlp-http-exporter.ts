import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import { shorten } from '../../component/item-problems.js';
import type { Counter } from '../../component/telemetry.js';
import { hiding } from '../../telemetry/hiding.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { BATCH_ID_HEADER } from '../../otlp/wire/batch-id.js';
import { encodingOf, readRejection } from '../../otlp/decode/answer.js';
import { encodeBatch } from '../../otlp/encode/request.js';
import { itemCount } from '../../signal/amount.js';
import type { Batches, TelemetrySignal } from '../../signal/batch.js';
import { compressed, inForm, type RawBatch, type RawForm } from '../../signal/raw-batch.js';
import { failureOf, type Answer } from './answer.js';
import { urlsOf, type OtlpHttpConfig } from './config.js';
import { Balanced } from './balanced.js';
import { Gateways, resolveHost, type ResolveHost } from './gateways.js';
import { GrpcClient } from './grpc-client.js';
import { connectOptions, HttpClient, type Client, type ConnectOptions } from './http-client.js';

/** Exporter `otlp_http`: see README.md. One call of an input is one attempt to send one request. */
export class OtlpHttpExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<OtlpHttpConfig>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #form: RawForm;
  readonly #rejected: Counter;
  readonly #log: SparseLog;
  readonly #hide: (text: string) => string;
  readonly #resolve: ResolveHost;
  #client: Client | undefined;
  #gateways: Gateways | undefined;
  #balanced: Balanced | undefined;

  /** @param resolve looks up the addresses of the endpoint, with `balance` */
  constructor(settings: Settings<OtlpHttpConfig>, resolve: ResolveHost = resolveHost) {
    this.#resolve = resolve;
    const { config, meter, logger, clock } = settings;
    this.#settings = settings;
    this.#form = config.compression === 'gzip' ? 'gzip' : 'plain';
    this.#headers = {
      'user-agent': 'Jackdaw',
      ...config.headers,
      ...(config.protocol === 'grpc'
        ? { 'content-type': 'application/grpc', ...(this.#form === 'gzip' && { 'grpc-encoding': 'gzip' }) }
        : {
            'content-type': 'application/x-protobuf',
            ...(this.#form === 'gzip' && { 'content-encoding': 'gzip' }),
          }),
    };
    this.#hide = hiding(Object.values(config.headers));
    this.#rejected = meter.counter('otlp_http_rejected_items_total', {
      description: 'Spans, points and records rejected by the server in a partial success.',
      labelNames: ['exporter', 'signal'],
    });
    this.#log = new SparseLog(logger, clock);
    const urls = [...urlsOf(config)];
    this.inputs = Object.fromEntries(urls.map(([signal, url]) => [signal, this.#input(signal, url)]));
  }

  /** @throws Error that names a TLS file that cannot be read */
  async start(): Promise<void> {
    const { config } = this.#settings;
    const options = await connectOptions(config);
    const open = (more: Partial<ConnectOptions> = {}): Client =>
      config.protocol === 'grpc'
        ? new GrpcClient({ ...options, ...more })
        : new HttpClient({ ...options, ...more }, config.queue.concurrency);
    if (config.balance === undefined) {
      this.#client = open();
      return;
    }
    this.#gateways = new Gateways(this.#settings, this.#resolve, (lookup) => open({ lookup }));
    this.#balanced = new Balanced(this.#gateways);
    await this.#gateways.start();
  }

  async shutdown(): Promise<void> {
    await this.#client?.close();
    await this.#gateways?.close();
    this.#client = undefined;
    this.#balanced = undefined;
  }

  #input<S extends TelemetrySignal>(signal: S, url: URL): Consumer<Batches[S]> {
    const send = async (
      batch: Batches[TelemetrySignal] | RawBatch,
      client: Client | undefined,
      context: ConsumeContext,
    ): Promise<Receipt> => {
      // A query may contain a key.
      const place = url.origin + url.pathname;
      const body = await this.#encode(signal, batch);
      const answer = await this.#post(url, place, body, { ...context, client });
      if (answer.status < 200 || answer.status > 299)
        throw failureOf(answer, place, this.#settings.clock.now(), this.#hide);
      this.#noteRejection(signal, answer, place);
      return { accepted: itemCount(batch), refused: [] };
    };
    const consume = async (batch: Batches[S] | RawBatch, context: ConsumeContext): Promise<Receipt> => {
      if (this.#balanced === undefined || batch.kind === 'raw') return send(batch, this.#client, context);
      return this.#balanced.consume(signal, batch, context, (part, { client }, about) =>
        send(part, client, about),
      );
    };
    // With balance, runs must be decoded to be told apart.
    const isRaw = signal === 'traces' && this.#settings.config.balance === undefined;
    return isRaw ? { consume, passthrough: { form: this.#form, consume } } : { consume };
  }

  /** @throws ConsumeError, permanent, if OTLP cannot express the batch */
  async #encode(signal: TelemetrySignal, batch: Batches[TelemetrySignal] | RawBatch): Promise<Uint8Array> {
    if (batch.kind === 'raw') return (await inForm(batch.request, this.#form)).bytes;
    let body: Uint8Array;
    try {
      body = encodeBatch(signal, batch);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ConsumeError(`The batch cannot be encoded as OTLP: ${reason}`, {
        code: 'validation_failed',
        retryable: false,
        cause,
      });
    }
    return this.#form === 'gzip' ? compressed(body) : body;
  }

  async #post(
    url: URL,
    place: string,
    body: Uint8Array,
    { abort, batch, client }: ConsumeContext & { readonly client: Client | undefined },
  ): Promise<Answer> {
    if (!client)
      throw new ConsumeError('the exporter was not started', { code: 'internal_error', retryable: true });
    const headers = { ...this.#headers, ...(batch && { [BATCH_ID_HEADER]: batch.id }) };
    return client.post(url, place, {
      headers,
      body,
      isCompressed: this.#form === 'gzip',
      signal: abort,
      hide: this.#hide,
    });
  }

  /** Rejected items must not be sent again: they are counted and logged. */
  #noteRejection(signal: TelemetrySignal, { body, contentType }: Answer, place: string): void {
    const rejection = readRejection(signal, body, encodingOf(contentType) ?? 'protobuf');
    if (!rejection) return;
    this.#rejected.add(rejection.count, { exporter: this.#settings.id, signal });
    this.#log.warn(
      rejection.count,
      { signal, reason: shorten(this.#hide(rejection.reason)) },
      `${place} accepted a request only partly`,
    );
  }
}
