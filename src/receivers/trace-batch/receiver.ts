import { isOwnersError, Tenants } from '../../auth/tenants.js';
import type { Component } from '../../component/component.js';
import type { ConsumeContext, Consumer, QuotaUsage, Receipt } from '../../component/consumer.js';
import type { Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { HttpProblem, type HttpRequest, type HttpResponse } from '../../component/http.js';
import type { Identity } from '../../component/identity.js';
import type { IntakeThreads, Original, Outcome, RequestInThread } from '../../component/intake.js';
import { shorten } from '../../component/item-problems.js';
import type { Rejections } from '../../component/rejections.js';
import type { Counter } from '../../component/telemetry.js';
import { durationMs } from '../../config/duration.js';
import { sizeBytes } from '../../config/size.js';
import { tlsOptions } from '../../config/tls.js';
import { InFlight } from '../../http/in-flight.js';
import { requireJson } from '../../http/json-body.js';
import { failureOf } from '../../http/problem.js';
import { createRouteBuilder } from '../../http/operation.js';
import { quotaHeaders, QUOTA_HEADERS } from '../../http/quota-headers.js';
import { ReceivedJson, type PackedJson } from '../../http/received-json.js';
import type { TracesBatch } from '../../signal/batch.js';
import { itemAt } from '../../signal/checked.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { TraceBatchConfig } from './config.js';
import { itemReader, type ItemReader } from './item-reader.js';
import { type TraceBatchReply, TraceBatchReplySchema, TraceBatchSchema } from './wire-format.js';
import { withoutValues } from './format-error.js';
import { parseJson } from '../../signal/json.js';
import type { Operation } from '../../component/operation.js';

const RETRY_AFTER_SECONDS = '1';
/** Total of all traces in a request. */
const MAX_SPANS = 100;
/** The response has an entry for each rejected trace, so their number must be limited. */
const MAX_TRACES = 10_000;
/** Objects, lists and fields: 100 spans with 5000 fields each. */
const JSON_RULES = { limits: { nodes: 500_000 } };
const NOTHING_TAKEN: Receipt = { accepted: 0, refused: [] };

/** A request for an intake thread. */
interface PackedTake {
  readonly packed: PackedJson;
  readonly userId: string;
  readonly context: ConsumeContext;
}

interface Taken {
  /** In JSON. */
  readonly reply: string;
  readonly usage: QuotaUsage | undefined;
}

/** Receiver `trace_batch`: see README.md. */
export class TraceBatchReceiver implements Component {
  readonly #settings: Settings<TraceBatchConfig>;
  readonly #next: Consumer<TracesBatch> | undefined;
  readonly #readItem: ItemReader;
  readonly #inFlight: InFlight;
  readonly #refusedRequests: Counter;
  readonly #unreadableTraces: Counter;
  readonly #tenants: Tenants | undefined;
  #endGauges: readonly (() => void)[] = [];
  #rejections: Pick<Rejections, 'note'> | undefined;
  #threads: IntakeThreads | undefined;
  #isDraining = false;

  constructor(settings: Settings<TraceBatchConfig> & { readonly outputs: Outputs }) {
    const { config, meter, outputs } = settings;
    this.#settings = settings;
    this.#next = outputs.traces;
    this.#readItem = itemReader();
    this.#tenants = config.tenant && new Tenants(config.tenant, settings.id, settings.clock);
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
    this.#tenants?.start(host);
    this.#rejections = host.rejections;
    this.#threads = host.intake;
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

  startCopy({ rejections }: Original): void {
    this.#rejections = rejections;
  }

  async work(message: object, request: RequestInThread): Promise<Taken> {
    const { packed, userId, context } = message as PackedTake;
    const body = ReceivedJson.unpack(packed, JSON_RULES);
    const { trail } = request;
    return await this.#take(body, userId, { ...context, trail }, (draft) => {
      request.draft(draft);
    });
  }

  respondFor(draft: object, outcome: Outcome): Taken {
    return takenOf(draft as Draft, outcome);
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    this.#isDraining = true;
    await this.#inFlight.idle(deadline);
    this.#tenants?.close();
    for (const end of this.#endGauges) end();
    this.#endGauges = [];
  }

  /** The part before the first await runs when the head has arrived: a request refused there costs no body. */
  async #handle(request: HttpRequest, identity: Identity): Promise<HttpResponse> {
    requireJson(request);
    const { userId } = identity;
    this.#refuseWhenBusy(userId, 0);
    const body = await ReceivedJson.receive(request, JSON_RULES);
    const bytes = body.byteLength;
    this.#refuseWhenBusy(userId, 0);
    let leave = (): void => undefined;
    // Until then the request counts only for the limits of the listener: a thread works on others.
    const begin = (): void => {
      this.#refuseWhenFull(userId, bytes);
      leave = this.#inFlight.enter(userId, bytes);
    };
    try {
      const context = { receivedAt: this.#settings.clock.now(), keyId: identity.keyId };
      const { reply, usage } = this.#threads?.takes('traces')
        ? await this.#takeInThread(this.#threads, body, userId, { ...context, begin, abort: request.abort })
        : await this.#takeHere(body, identity, { ...context, begin, abort: request.abort });
      return { status: 200, headers: quotaHeaders(usage), body: reply };
    } finally {
      leave();
    }
  }

  async #takeHere(
    body: ReceivedJson,
    identity: Identity,
    { begin, ...context }: ConsumeContext & { readonly begin: () => void },
  ): Promise<Taken> {
    begin();
    if (this.#tenants === undefined) return await this.#take(body, identity.userId, context);
    return await this.#takeForOwners(this.#tenants, body, identity, context);
  }

  /** Each user's traces are a request of their own: one user's limit does not stop another's data. */
  async #takeForOwners(
    tenants: Tenants,
    body: ReceivedJson,
    sender: Identity,
    context: ConsumeContext,
  ): Promise<Taken> {
    const { ids, reasons, parts } = await this.#sendForOwners(tenants, body, sender, context);
    const hasRefused = reasons.size > 0;
    const results = await Promise.allSettled(parts.map(({ answer }) => answer));
    const errors: unknown[] = [];
    let usage: QuotaUsage | undefined;
    results.forEach((result, at) => {
      const { draft, positions } = itemAt(parts, at);
      const ownReasons =
        result.status === 'fulfilled'
          ? reasonsOf(draft, result.value)
          : new Map(positions.map((_, index) => [index, failureOf(result.reason).problem.message]));
      for (const [index, reason] of ownReasons) reasons.set(itemAt(positions, index), reason);
      if (result.status === 'rejected') errors.push(result.reason);
      // The sender may not see the quotas of others.
      else if (parts.length === 1) usage = result.value.usage;
    });
    const other = errors.find((error) => !isOwnersError(error));
    if (other !== undefined) throw other as Error;
    if (errors.length > 0 && errors.length === parts.length && !hasRefused) throw errors[0] as Error;
    return { reply: JSON.stringify(toReply(ids, reasons)), usage };
  }

  /** @returns the sent `trace_id` of each item, the reason for each that belongs to no user, and what was sent for each user */
  async #sendForOwners(tenants: Tenants, body: ReceivedJson, sender: Identity, context: ConsumeContext) {
    const items = readItems(body);
    const reasons = new Map<number, string>();
    const byOwner = new Map<string, number[]>();
    for (const [position, item] of items.entries()) {
      const resource = ownField(ownField(ownField(item, 'trace'), 'metadata'), 'resource');
      const value = ownField(resource, tenants.attribute);
      const owner = await tenants.ownerOf(value === undefined ? [] : [value], sender);
      if (owner.kind === 'refused') reasons.set(position, owner.reason);
      else byOwner.set(owner.userId, [...(byOwner.get(owner.userId) ?? []), position]);
    }
    const ids = items.map(sentId);
    if (reasons.size > 0) this.#noteUnreadable(sender.userId, ids, reasons);
    const parts = [...byOwner].map(([userId, positions]) => {
      const own = positions.map((position) => items[position]);
      const sent = this.#sendItems(own, userId, context);
      if (sent.draft.reasons.size > 0) this.#noteUnreadable(userId, sent.draft.ids, sent.draft.reasons);
      return { ...sent, positions };
    });
    return { ids, reasons, parts };
  }

  async #takeInThread(
    threads: IntakeThreads,
    body: ReceivedJson,
    userId: string,
    {
      begin,
      abort,
      ...context
    }: ConsumeContext & {
      readonly keyId: string | null;
      readonly begin: () => void;
      readonly abort: AbortSignal;
    },
  ): Promise<Taken> {
    const packed = body.pack();
    const { buffer } = packed.bytes;
    const { keyId } = context;
    const task = { signal: 'traces', userId, keyId, abort, bytes: buffer.byteLength, begin } as const;
    const message: PackedTake = { packed, userId, context };
    return await threads.run<Taken>({ ...task, message, transfer: [buffer] });
  }

  /** Keeps no item while the pipeline works: items would survive several garbage collections. */
  async #take(
    body: ReceivedJson,
    userId: string,
    context: ConsumeContext,
    onDraft: (draft: Draft) => void = () => undefined,
  ): Promise<Taken> {
    const { draft, answer } = this.#send(body, userId, context);
    const { ids, reasons } = draft;
    onDraft(draft);
    if (reasons.size > 0) this.#noteUnreadable(userId, ids, reasons);
    return takenOf(draft, await answer);
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
    return this.#sendItems(readItems(body), tenant, context);
  }

  #sendItems(items: readonly unknown[], tenant: string, context: ConsumeContext): Sent {
    const reasons = new Map<number, string>();
    const records: TraceRecord[] = [];
    const positions: number[] = [];
    for (const [index, item] of items.entries()) {
      const read = this.#readItem(item, context.receivedAt);
      if (typeof read === 'string') {
        reasons.set(index, read);
      } else {
        records.push(read);
        positions.push(index);
      }
    }
    const answer =
      records.length === 0 ? undefined : this.#next?.consume({ tenant, items: records }, context);
    const draft = { ids: items.map(sentId), positions, reasons };
    return { draft, answer: answer ?? Promise.resolve(NOTHING_TAKEN) };
  }

  #refuseWhenBusy(userId: string, bytes: number): void {
    if (this.#isDraining)
      this.#refuse('shutting_down', 'The daemon is shutting down; send the request again.');
    this.#refuseWhenFull(userId, bytes);
  }

  #refuseWhenFull(userId: string, bytes: number): void {
    if (this.#inFlight.isFull(userId, bytes))
      this.#refuse('overloaded', 'Too many requests are waiting for the store; send this one again later.');
  }

  #refuse(code: 'shutting_down' | 'overloaded', detail: string): never {
    this.#refusedRequests.add(1, { receiver: this.#settings.id, code });
    throw new HttpProblem(503, code, detail, { headers: { 'retry-after': RETRY_AFTER_SECONDS } });
  }
}

/** What is known of a response before the answer of the pipeline. */
interface Draft {
  /** The sent `trace_id` of each item. */
  readonly ids: readonly string[];
  /** The position in the request of each record. */
  readonly positions: readonly number[];
  /** The reason for each invalid item, by its position. */
  readonly reasons: ReadonlyMap<number, string>;
}

/** A request that was sent to a pipeline. */
interface Sent {
  readonly draft: Draft;
  readonly answer: Promise<Receipt>;
}

function takenOf(draft: Draft, outcome: Outcome): Taken {
  return { reply: JSON.stringify(toReply(draft.ids, reasonsOf(draft, outcome))), usage: outcome.usage };
}

/** The reason for each rejected item, by its position in the request. */
function reasonsOf({ positions, reasons }: Draft, { refused }: Outcome): ReadonlyMap<number, string> {
  const all = new Map(reasons);
  for (const { index, reason } of refused) {
    const position = positions[index];
    // If several exporters refuse a trace, the response has only the first entry.
    if (position !== undefined && !all.has(position)) all.set(position, reason);
  }
  return all;
}

/** @param ids of all items, as sent @param reasons by the position of the rejected item */
function toReply(ids: readonly string[], reasons: ReadonlyMap<number, string>): TraceBatchReply {
  const errors = [...reasons]
    .sort(([a], [b]) => a - b)
    .map(([index, error]) => ({ trace_id: itemAt(ids, index), error }));
  return { accepted: ids.length - errors.length, rejected: errors.length, errors };
}

/** The sent `trace_id`; empty if it cannot be returned. */
function sentId(item: unknown): string {
  const trace = ownField(item, 'trace');
  const id = ownField(trace, 'trace_id');
  return typeof id === 'string' ? shorten(id) : '';
}

function ownField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/**
 * The items of a request's body, to be validated individually.
 *
 * @throws HttpProblem 400 `invalid_encoding`, 400 `invalid_json`, 422 `validation_failed` if a rule of the whole request is
 *   broken
 */
function readItems(received: ReceivedJson): readonly unknown[] {
  const body = received.parse({ parse: parseJson });
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('', 'must be an object with the field "traces"');
  const traces = 'traces' in body && Object.hasOwn(body, 'traces') ? body.traces : undefined;
  if (traces === undefined) throw invalid('/traces', 'is required');
  if (!Array.isArray(traces)) throw invalid('/traces', 'must be an array');
  if (traces.length > MAX_TRACES)
    throw invalid(
      '/traces',
      `must not contain more than ${MAX_TRACES} traces, but there are ${traces.length}`,
    );
  const items: readonly unknown[] = traces;
  const spans = items.reduce<number>((sum, item) => sum + countSpans(item), 0);
  if (spans > MAX_SPANS)
    throw invalid('/traces', `must not contain more than ${MAX_SPANS} spans in all, but there are ${spans}`);
  return items;
}

function countSpans(item: unknown): number {
  if (typeof item !== 'object' || item === null || !('spans' in item)) return 0;
  return Array.isArray(item.spans) ? item.spans.length : 0;
}

function invalid(field: string, message: string): HttpProblem {
  return new HttpProblem(
    422,
    'validation_failed',
    `The body${field === '' ? '' : `'s ${field}`} ${message}.`,
    {
      errors: [{ field, message }],
    },
  );
}

/** The OpenAPI operation of the route. @param limits of the body, from the configuration */
function traceBatchOperation(limits: {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}): Operation {
  return {
    id: 'ingestTraces',
    method: 'POST',
    path: '/api/v1/traces/batch',
    tag: 'traces',
    summary: 'Send runs of agents',
    description:
      'Each trace is validated separately: the response is 200 even if some or all are rejected, and lists the rejected ones. ' +
      'An accepted trace is stored durably and readable immediately. Repeats are accepted and change nothing, so a ' +
      'request may be sent again if its response was lost.',
    headers: { response: QUOTA_HEADERS },
    access: 'write',
    audit: { none: 'Data intake.' },
    body: TraceBatchSchema,
    responses: { 200: TraceBatchReplySchema },
    errors: [429],
    ...limits,
  };
}
