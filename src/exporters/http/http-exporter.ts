import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { Counter } from '../../component/telemetry.js';
import { readVersion } from '../../config/package-version.js';
import {
  ATTEMPT_KINDS,
  type AttemptResult,
  type WebhookSender,
} from '../../delivery/senders/webhook/sender.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import type { Batch, Batches, Signal } from '../../signal/batch.js';
import { hiding } from '../../telemetry/hiding.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { failureOf, isKeyRefused } from './answer.js';
import { ITEMS, type HttpConfig } from './config.js';
import { Requests, type BuiltRequest } from './requests.js';

const compress = promisify(gzip);

/** What makes the requests: a sender, or what stands in for one. */
export type Transport = Pick<WebhookSender, 'send' | 'close'>;

/** @throws Error that names a file that cannot be used */
export type OpenTransport = (settings: Settings<HttpConfig>) => Promise<Transport>;

/** What was given up for good, and why. */
interface Rejection {
  readonly records: readonly object[];
  readonly reason: string;
}

/** Exporter `http`: see README.md. One call of its input is one attempt to send what a batch comes to. */
export class HttpExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<HttpConfig>;
  readonly #open: OpenTransport;
  readonly #place: string;
  readonly #agent = `Jackdaw/${readVersion()}`;
  readonly #requests: Requests;
  readonly #results: Counter;
  readonly #rejected: Counter;
  readonly #log: SparseLog;
  readonly #hide: (text: string) => string;
  /** Records of batches that were sent in part: what was sent of them is not sent again. */
  readonly #done = new WeakSet();
  #transport: Transport | undefined;
  #host: Host | undefined;
  #isKeyRefused = false;

  constructor(settings: Settings<HttpConfig>, open: OpenTransport) {
    const { id, config, meter, logger, clock } = settings;
    this.#settings = settings;
    this.#open = open;
    this.#place = /^https?:\/\/[^/?#]+/.exec(config.url ?? '')?.[0] ?? '';
    const failures = new EvaluationFailures(settings, 'exporter');
    this.#requests = new Requests(config, (place, error) => {
      failures.count(place.replaceAll('/', '.'), error);
    });
    this.#results = meter.counter('http_requests_total', {
      description: 'Requests by what became of them.',
      labelNames: ['exporter', 'result'],
    });
    for (const result of ATTEMPT_KINDS) this.#results.add(0, { exporter: id, result });
    this.#rejected = meter.counter('http_rejected_items_total', {
      description:
        'Items that were given up for good: the other side refused them, or no request can be made of them.',
      labelNames: ['exporter'],
    });
    this.#rejected.add(0, { exporter: id });
    this.#log = new SparseLog(logger, clock);
    this.#hide = hiding([...partsOfUrl(config.url ?? ''), ...Object.values(config.headers)]);
    this.inputs = { [ITEMS[config.item]]: this.#input() };
  }

  /** @throws Error that names a file that cannot be used */
  async start(host: Host): Promise<void> {
    this.#host = host;
    this.#transport = await this.#open(this.#settings);
  }

  async shutdown(): Promise<void> {
    await this.#transport?.close();
    this.#transport = undefined;
  }

  #input(): Consumer<Batches[Signal]> {
    return {
      consume: async (batch, context): Promise<Receipt> => {
        const accepted = batch.items.length;
        await this.#send(batch, context);
        return { accepted, refused: [] };
      },
    };
  }

  /** @throws ConsumeError: one that may be retried for what is left of the batch, a permanent one where nothing of it was taken */
  async #send(batch: Batch<unknown>, context: ConsumeContext): Promise<void> {
    const before: object[] = [];
    const { requests, unfit } = this.#requests.build(batch, context, (record) => {
      const isDone = this.#done.has(record);
      if (isDone) before.push(record);
      return isDone;
    });
    let sent = before.length;
    const rejections: Rejection[] = unfit.map(({ record, reason }) => ({ records: [record], reason }));
    for (const request of requests) {
      const error = await this.#attempt(request, context);
      if (error?.retryable === true) {
        for (const { record } of unfit) this.#done.add(record);
        this.#noteRejections(rejections);
        throw error;
      }
      for (const record of request.records) this.#done.add(record);
      if (error === null) sent += request.records.length;
      else rejections.push({ records: request.records, reason: error.message });
    }
    for (const record of [...before, ...requests.flatMap(({ records }) => records)])
      this.#done.delete(record);
    const [first] = rejections;
    if (sent > 0 || first === undefined) {
      this.#noteRejections(rejections);
      return;
    }
    this.#countRejections(rejections);
    throw new ConsumeError(first.reason, { code: 'validation_failed', retryable: false });
  }

  /** @returns what it failed with */
  async #attempt(request: BuiltRequest, { abort }: ConsumeContext): Promise<ConsumeError | null> {
    const transport = this.#transport;
    if (!transport)
      throw new ConsumeError('the exporter was not started', { code: 'internal_error', retryable: true });
    const { url, method, body } = request;
    const isPacked = body !== null && this.#settings.config.compression === 'gzip';
    const headers = {
      'user-agent': this.#agent,
      ...request.headers,
      ...(isPacked && { 'content-encoding': 'gzip' }),
    };
    const bytes = body === null ? null : Buffer.from(body);
    let result: AttemptResult;
    try {
      result = await transport.send(
        { url, method, headers, body: isPacked && bytes !== null ? await compress(bytes) : bytes },
        abort ?? new AbortController().signal,
      );
    } catch (cause) {
      throw new ConsumeError('The attempt was broken off', { code: 'overloaded', retryable: true, cause });
    }
    const { id, logger } = this.#settings;
    this.#results.add(1, { exporter: id, result: result.kind });
    if (result.detail !== null && logger.isDebugEnabled())
      logger.debug({ reason: result.detail }, 'A request got no whole answer');
    this.#noteKey(result);
    return failureOf(result, this.#place, this.#hide);
  }

  /** Somebody has to look after a key that is refused. A request without an answer says nothing of the key. */
  #noteKey(result: AttemptResult): void {
    const isRefused = isKeyRefused(result);
    if (isRefused)
      this.#host?.reportStatus({
        level: 'degraded',
        message: `${this.#place} answered ${result.statusCode ?? ''}: what is to be sent is kept until it lets us in; look at the key in url, headers or body`,
      });
    else if (this.#isKeyRefused && result.succeeded) this.#host?.reportStatus({ level: 'ok' });
    if (isRefused || result.succeeded) this.#isKeyRefused = isRefused;
  }

  /** Rejections of a part. Those of a whole batch are logged with the batch. */
  #noteRejections(rejections: readonly Rejection[]): void {
    this.#countRejections(rejections);
    for (const { records, reason } of rejections)
      this.#log.warn(records.length, { reason }, 'Items were given up: sending them again could not help');
  }

  #countRejections(rejections: readonly Rejection[]): void {
    for (const { records } of rejections) this.#rejected.add(records.length, { exporter: this.#settings.id });
  }
}

/** What of a URL may be a key: the whole, what stands behind the host, and the query. */
function partsOfUrl(url: string): readonly string[] {
  const behind = url.replace(/^https?:\/\/[^/?#]*/, '');
  return [url, behind, behind.replace(/^[^?]*\??/, '')];
}
