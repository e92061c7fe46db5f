import type { Component } from '../../component/component.js';
import type { ConsumeContext, Consumer, QuotaUsage, Receipt } from '../../component/consumer.js';
import type { Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { HttpProblem, type HttpRequest, type HttpResponse } from '../../component/http.js';
import type { Identity } from '../../component/identity.js';
import { shorten } from '../../component/item-problems.js';
import type { Rejections } from '../../component/rejections.js';
import type { Counter } from '../../component/telemetry.js';
import { durationMs } from '../../config/duration.js';
import { sizeBytes } from '../../config/size.js';
import { tlsOptions } from '../../config/tls.js';
import { InFlight } from '../../http/in-flight.js';
import { requireJson } from '../../http/json-body.js';
import { createRouteBuilder } from '../../http/operation.js';
import { quotaHeaders } from '../../http/quota-headers.js';
import { ReceivedJson } from '../../http/received-json.js';
import type { TracesBatch } from '../../signal/batch.js';
import { itemAt } from '../../signal/checked.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { TraceBatchConfig } from './config.js';
import { itemReader, type ItemReader } from './item-reader.js';
import { traceBatchOperation } from './operation.js';
import { MAX_STRUCTURE, readItems } from './request-body.js';
import type { TraceBatchReply } from './wire-format.js';
import { withoutValues } from './wording.js';

const RETRY_AFTER_SECONDS = '1';
const NOTHING_TAKEN: Receipt = { accepted: 0, refused: [] };

/** Receiver `trace_batch`: see README.md. */
export class TraceBatchReceiver implements Component {
  readonly #settings: Settings<TraceBatchConfig>;
  readonly #next: Consumer<TracesBatch> | undefined;
  readonly #readItem: ItemReader;
  readonly #inFlight: InFlight;
  readonly #refusedRequests: Counter;
  readonly #unreadableTraces: Counter;
  #endGauges: readonly (() => void)[] = [];
  #rejections: Rejections | undefined;
  #isDraining = false;

  constructor(settings: Settings<TraceBatchConfig> & { readonly outputs: Outputs }) {
    const { config, meter, outputs } = settings;
    this.#settings = settings;
    this.#next = outputs.traces;
    this.#readItem = itemReader();
    this.#inFlight = new InFlight({
      requests: config.max_in_flight.requests,
      bytes: sizeBytes(config.max_in_flight.bytes),
    });
    this.#refusedRequests = meter.counter('trace_batch_refused_requests_total', {
      description: 'Requests refused because max_in_flight was reached or the daemon was shutting down.',
      labelNames: ['receiver', 'code'],
    });
    this.#unreadableTraces = meter.counter('trace_batch_unreadable_traces_total', {
      description: 'Traces rejected because of their structure, before they reach a pipeline.',
      labelNames: ['receiver'],
    });
  }

  async start(host: Host): Promise<void> {
    const { id, config, meter } = this.#settings;
    const listener = host.listener(config.endpoint, { tls: tlsOptions(config.tls) });
    const operation = traceBatchOperation({
      maxBodyBytes: sizeBytes(config.max_request_body_size),
      bodyTimeoutMs: durationMs(config.request_timeout),
    });
    const routes = createRouteBuilder(host);
    listener.route(routes.raw(operation, (request, identity) => this.#handle(request, identity)));
    this.#rejections = host.rejections;
    this.#inFlight.shareOut(host.userLimits.share);
    const labels = { receiver: id };
    this.#endGauges = [
      meter.gauge(
        'trace_batch_requests_in_flight',
        { description: 'Requests waiting for the store.', labelNames: ['receiver'] },
        () => this.#inFlight.requests,
        labels,
      ),
      meter.gauge(
        'trace_batch_bytes_in_flight',
        { description: 'Bytes of request bodies waiting for the store.', labelNames: ['receiver'] },
        () => this.#inFlight.bytes,
        labels,
      ),
    ];
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    this.#isDraining = true;
    await this.#inFlight.idle(deadline);
    for (const end of this.#endGauges) end();
    this.#endGauges = [];
  }

  /** The part before the first await runs when the head has arrived: a request refused here costs no body. */
  async #handle(request: HttpRequest, identity: Identity): Promise<HttpResponse> {
    requireJson(request);
    const { userId } = identity;
    this.#refuseWhenBusy(userId, 0);
    const body = await ReceivedJson.receive(request, { limits: MAX_STRUCTURE });
    const bytes = body.byteLength;
    this.#refuseWhenBusy(userId, bytes);
    this.#inFlight.enter(userId, bytes);
    try {
      const { reply, usage } = await this.#take(body, identity, request.abort);
      return { status: 200, headers: quotaHeaders(usage), body: JSON.stringify(reply) };
    } finally {
      this.#inFlight.leave(userId, bytes);
    }
  }

  /** Keeps no item while the pipeline works: they would outlive several rounds of the garbage collector. */
  async #take(
    body: ReceivedJson,
    { userId, keyId }: Identity,
    abort: AbortSignal,
  ): Promise<{ readonly reply: TraceBatchReply; readonly usage: QuotaUsage | undefined }> {
    const context = { receivedAt: this.#settings.clock.now(), keyId, abort };
    const { ids, positions, reasons, answer } = this.#send(body, userId, context);
    if (reasons.size > 0) this.#noteUnreadable(userId, ids, reasons);
    const { refused, usage } = await answer;
    for (const { index, reason } of refused) {
      const position = positions[index];
      // Where two exporters both refuse a trace, the answer has the first one's entry: one for each trace.
      if (position !== undefined && !reasons.has(position)) reasons.set(position, reason);
    }
    return { reply: toReply(ids, reasons), usage };
  }

  #noteUnreadable(userId: string, ids: readonly string[], reasons: ReadonlyMap<number, string>): void {
    const receiver = this.#settings.id;
    this.#unreadableTraces.add(reasons.size, { receiver });
    const items = [...reasons].map(([index, error]) => ({
      trace_id: itemAt(ids, index),
      error: withoutValues(error),
    }));
    this.#rejections?.note(userId, { receiver, signal: 'traces', code: 'validation_failed', items });
  }

  #send(body: ReceivedJson, tenant: string, context: ConsumeContext): Sent {
    const items = readItems(body);
    const reasons = new Map<number, string>();
    const records: TraceRecord[] = [];
    const positions: number[] = [];
    for (const [index, item] of items.entries()) {
      const read = this.#readItem(item);
      if (typeof read === 'string') {
        reasons.set(index, read);
      } else {
        records.push(read);
        positions.push(index);
      }
    }
    const answer =
      records.length === 0 ? undefined : this.#next?.consume({ tenant, items: records }, context);
    return { ids: items.map(sentId), positions, reasons, answer: answer ?? Promise.resolve(NOTHING_TAKEN) };
  }

  #refuseWhenBusy(userId: string, bytes: number): void {
    if (this.#isDraining)
      this.#refuse('shutting_down', 'The daemon is shutting down; send the request again.');
    if (this.#inFlight.isFull(userId, bytes))
      this.#refuse('overloaded', 'Too many requests are waiting for the store; send this one again later.');
  }

  #refuse(code: 'shutting_down' | 'overloaded', detail: string): never {
    this.#refusedRequests.add(1, { receiver: this.#settings.id, code });
    throw new HttpProblem(503, code, detail, { headers: { 'retry-after': RETRY_AFTER_SECONDS } });
  }
}

/** A request on its way through a pipeline. */
interface Sent {
  /** For every item, the `trace_id` as it was sent. */
  readonly ids: readonly string[];
  /** The positions, in the request, of the records. */
  readonly positions: readonly number[];
  /** For each item that is not a record, the reason, by its position. */
  readonly reasons: Map<number, string>;
  readonly answer: Promise<Receipt>;
}

/** @param ids of all items, as they were sent @param reasons by the position of the rejected item */
function toReply(ids: readonly string[], reasons: ReadonlyMap<number, string>): TraceBatchReply {
  const errors = [...reasons]
    .sort(([a], [b]) => a - b)
    .map(([index, error]) => ({ trace_id: itemAt(ids, index), error }));
  return { accepted: ids.length - errors.length, rejected: errors.length, errors };
}

/** The `trace_id` as it was sent; empty where there is none to echo. */
function sentId(item: unknown): string {
  const trace = ownField(item, 'trace');
  const id = ownField(trace, 'trace_id');
  return typeof id === 'string' ? shorten(id) : '';
}

function ownField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
