import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt, Refusal } from '../../component/consumer.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import type { Counter } from '../../component/telemetry.js';
import { partsOfText } from '../../config/holes.js';
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
import { ITEMS, type HttpConfig } from './config.js';
import { Requests, type BuiltRequest } from './requests.js';
import { shorten } from '../../component/item-problems.js';
import { remedyFor } from '../../delivery/http-answer.js';

/** 4xx statuses that are temporary. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** Statuses that may concern a single item if the path depends on the item. */
const OF_PATH: ReadonlySet<number | null> = new Set([404, 405]);

interface Target {
  readonly place: string;
  readonly hasFixedPath: boolean;
}

/**
 * The failure of an attempt.
 *
 * @param place origin of the URL, without path and query, which may contain a key
 * @param hasFixedPath whether the path is the same for all items
 * @param hide removes secrets from the server's text
 * @returns null for a success
 */
function failureOf(
  result: AttemptResult,
  { place, hasFixedPath }: Target,
  hide: (text: string) => string,
): ConsumeError | null {
  const { kind, succeeded, statusCode, error, retryAfterMs, responseBody } = result;
  if (succeeded) return null;
  const isOfItem = !hasFixedPath && OF_PATH.has(statusCode);
  const remedy = kind === 'refused' && !isOfItem ? remedyFor(statusCode) : undefined;
  const isPermanent =
    kind === 'refused' &&
    statusCode !== null &&
    statusCode < 500 &&
    !PASSING.has(statusCode) &&
    remedy === undefined;
  if (isPermanent) {
    const text = shorten(hide(responseBody).replace(/\s+/g, ' ').trim());
    const message = `${place} answered ${statusCode}${text === '' ? '' : `: ${text}`}`;
    return new ConsumeError(error === null ? message : `${place}: ${error}`, {
      code: 'validation_failed',
      retryable: false,
    });
  }
  const advice = kind === 'blocked' ? 'add its network to targets.allow_cidrs to allow it' : remedy;
  return new ConsumeError(
    `${place}: ${error ?? `the answer was ${statusCode ?? 'none'}`}${advice === undefined ? '' : `: ${advice}`}`,
    {
      code: statusCode === 429 ? 'rate_limited' : 'overloaded',
      retryable: true,
      needsOperator: remedy !== undefined || kind === 'blocked',
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    },
  );
}

const compress = promisify(gzip);

/** Sends the requests; replaceable for tests. */
export type Transport = Pick<WebhookSender, 'send' | 'close'>;

/** @throws Error that names a file that cannot be used */
export type OpenTransport = (settings: Settings<HttpConfig>) => Promise<Transport>;

/** Exporter `http`: see README.md. One call of its input is one attempt to send the requests of a batch. */
export class HttpExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<HttpConfig>;
  readonly #open: OpenTransport;
  readonly #failures: EvaluationFailures;
  readonly #agent = `Jackdaw/${readVersion()}`;
  readonly #results: Counter;
  readonly #rejected: Counter;
  readonly #log: SparseLog;
  readonly #target: Target;
  readonly #requests: Requests;
  readonly #hide: (text: string) => string;
  /** Finished records of partly sent batches: null if sent, the reason if dropped. They are not sent again. */
  readonly #done = new WeakMap<object, string | null>();
  #transport: Transport | undefined;

  constructor(settings: Settings<HttpConfig>, open: OpenTransport) {
    const { id, config, meter, logger, clock } = settings;
    this.#settings = settings;
    this.#open = open;
    this.#failures = new EvaluationFailures(settings, 'exporter');
    const { url = '', headers } = config;
    this.#target = {
      place: /^https?:\/\/[^/?#]+/.exec(url)?.[0] ?? '',
      hasFixedPath: !partsOfText(url).some(({ isHole }) => isHole),
    };
    this.#requests = new Requests(config, (place, error) => {
      this.#failures.count(place.replaceAll('/', '.'), error);
    });
    this.#hide = hiding([...partsOfUrl(url), ...Object.values(headers)]);
    this.#results = meter.counter('http_exporter_requests_total', {
      description: 'Requests by outcome.',
      labelNames: ['exporter', 'result'],
    });
    for (const result of ATTEMPT_KINDS) this.#results.add(0, { exporter: id, result });
    this.#rejected = meter.counter('http_exporter_rejected_items_total', {
      description: 'Items dropped because the server refused them or no request can be made from them.',
      labelNames: ['exporter'],
    });
    this.#rejected.add(0, { exporter: id });
    this.#log = new SparseLog(logger, clock);
    this.inputs = { [ITEMS[config.item]]: this.#input() };
  }

  /** @throws Error that names a file that cannot be used */
  async start(): Promise<void> {
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
        const refused = await this.#send(batch, context);
        return { accepted: accepted - refused.length, refused };
      },
    };
  }

  /**
   * @returns the dropped items of the batch
   * @throws ConsumeError: retryable for the rest of the batch, permanent if no item was accepted
   */
  async #send(batch: Batch<unknown>, context: ConsumeContext): Promise<readonly Refusal[]> {
    // A downstream consumer may empty the list.
    const items = [...batch.items];
    const ended = new Map<object, string | null>();
    const { requests, unfit } = this.#requests.build(batch, context, (record) => {
      const before = this.#done.get(record);
      if (before !== undefined) ended.set(record, before);
      return before !== undefined;
    });
    for (const { record, reason } of unfit) this.#giveUp(ended, [record], reason);
    for (const request of requests) {
      const error = await this.#attempt(request, context);
      if (error?.retryable === true) {
        for (const [record, reason] of ended) this.#done.set(record, reason);
        throw error;
      }
      if (error !== null) this.#giveUp(ended, request.records, error.message);
      else for (const record of request.records) ended.set(record, null);
    }
    for (const record of ended.keys()) this.#done.delete(record);
    const reasons = [...ended.values()].filter((reason) => reason !== null);
    const [first] = reasons;
    if (first === undefined) return [];
    if (reasons.length === ended.size)
      throw new ConsumeError(first, { code: 'validation_failed', retryable: false });
    this.#log.warn(reasons.length, { reason: first }, 'Dropped items that a retry cannot deliver');
    return refusalsOf(items, ended);
  }

  #giveUp(ended: Map<object, string | null>, records: readonly object[], reason: string): void {
    this.#rejected.add(records.length, { exporter: this.#settings.id });
    for (const record of records) ended.set(record, reason);
  }

  /** @returns the error, or null after a success */
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
      throw new ConsumeError('The attempt was cancelled', { code: 'overloaded', retryable: true, cause });
    }
    const { id, logger } = this.#settings;
    this.#results.add(1, { exporter: id, result: result.kind });
    if (result.detail !== null && logger.isDebugEnabled())
      logger.debug({ reason: result.detail }, 'A request got no complete response');
    return failureOf(result, this.#target, this.#hide);
  }
}

/** The dropped items. A trace counts as dropped if any of its spans does. */
function refusalsOf(
  items: readonly unknown[],
  ended: ReadonlyMap<object, string | null>,
): readonly Refusal[] {
  return items.flatMap((item, index) => {
    const spans = typeof item === 'object' && item !== null && 'spans' in item ? item.spans : [];
    const records = [item, ...(Array.isArray(spans) ? (spans as unknown[]) : [])];
    const reason = records
      .map((record) => ended.get(record as object) ?? null)
      .find((found) => found !== null);
    return reason === undefined ? [] : [{ index, reason }];
  });
}

/** Parts of a URL that may be secret: the whole URL, the part after the host, and the query. */
function partsOfUrl(url: string): readonly string[] {
  const behind = url.replace(/^https?:\/\/[^/?#]*/, '');
  return [url, behind, behind.replace(/^[^?]*\??/, '')];
}
