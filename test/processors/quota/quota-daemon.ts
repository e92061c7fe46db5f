import { randomUUID } from 'node:crypto';
import { status as Code, type Metadata } from '@grpc/grpc-js';
import type { Test } from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon, type TestDaemon, type TestDaemonOptions } from '../../support/daemon.js';
import { grpcFailureOf, startOtlpGrpcClient } from '../../support/otlp-grpc-client.js';
import { aSpan as anOtlpSpan, jsonOf, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { HandClock } from '../../support/hand-clock.js';
import { quotaOf } from '../../support/quota-answer.js';
import { anItem, aSpan } from '../../support/trace-batch.js';

/** Every route for traces. */
export const WAYS = ['trace_batch', 'otlp over http', 'otlp on the api', 'otlp over grpc'] as const;
export type Way = (typeof WAYS)[number];

/** A run to send; sending it again by the same route is a repeat. */
export interface Run {
  readonly traceId: string;
  readonly spanIds: readonly string[];
}

export function aRun(spans: number): Run {
  return { traceId: randomUUID(), spanIds: Array.from({ length: spans }, () => randomUUID()) };
}

/** The outcome of a request. */
export interface Outcome {
  readonly isTaken: boolean;
  readonly quota: ReturnType<typeof quotaOf>;
  /** Seconds until a refused sender may retry. */
  readonly retryAfter?: number | undefined;
}

export interface Usage {
  readonly period: string;
  readonly used: number;
  readonly limit: number | null;
  readonly resets_at: string;
}

/** A whole daemon with a quota that receives runs on every route. */
export class QuotaDaemon {
  readonly api: ApiCaller;
  readonly #daemon: TestDaemon;
  readonly #grpc: ReturnType<typeof startOtlpGrpcClient>;

  private constructor(t: Pick<Test, 'teardown'>, daemon: TestDaemon) {
    this.#daemon = daemon;
    this.api = new ApiCaller(daemon.url, daemon.key);
    this.#grpc = startOtlpGrpcClient(t, daemon.grpcAddress);
  }

  /**
   * @param quota the section of the processor
   * @param options `clock`: stopped by default, so that no month changes
   */
  static async start(
    t: Pick<Test, 'testdir' | 'teardown'>,
    quota: { readonly monthly_events?: number; readonly count?: readonly string[] },
    options: Pick<TestDaemonOptions, 'clock' | 'directory' | 'key'> = {},
  ): Promise<QuotaDaemon> {
    const overlay = JSON.stringify({ processors: { quota } });
    return new QuotaDaemon(t, await startTestDaemon(t, { overlay, clock: new HandClock(), ...options }));
  }

  get directory(): string {
    return this.#daemon.directory;
  }

  async stop(): Promise<void> {
    await this.#daemon.daemon.shutdown();
  }

  /** @returns a key of a new user. @param limit of the user */
  async addUser(limit?: number): Promise<{ readonly id: string; readonly key: string }> {
    const user = await this.api.createUser(`${randomUUID()}@example.com`, ['write', 'read']);
    if (limit !== undefined) await this.setLimit(user.id, limit);
    return user;
  }

  async setLimit(userId: string, limit: number): Promise<void> {
    const { status } = await this.api.call('PATCH', `/admin/users/${userId}`, {
      json: { monthly_event_limit: limit },
    });
    if (status !== 200) throw new Error(`the limit was not set: ${status}`);
  }

  async usage(key = this.api.adminKey): Promise<Usage> {
    return await this.api.get<Usage>('/usage', key);
  }

  /** @throws Error for responses other than success or a quota refusal */
  async send(run: Run, options: { readonly way?: Way; readonly key?: string } = {}): Promise<Outcome> {
    const { way = 'trace_batch', key = this.api.adminKey } = options;
    if (way === 'trace_batch') return await this.sendItems([itemOf(run)], key);
    const request = otlpOf(run);
    return way === 'otlp over grpc'
      ? await this.sendGrpc('traces', request, key)
      : await this.sendOtlp('traces', request, { key, isOnApi: way === 'otlp on the api' });
  }

  async sendItems(traces: readonly object[], key = this.api.adminKey): Promise<Outcome> {
    const answer = await this.api.call('POST', '/traces/batch', { key, json: { traces } });
    if (answer.status === 429) expectCode(answer.body);
    return outcomeOf(answer);
  }

  async sendOtlp(
    signal: 'traces' | 'metrics' | 'logs',
    request: object,
    { key = this.api.adminKey, isOnApi = false } = {},
  ): Promise<Outcome> {
    const base = isOnApi ? `${this.#daemon.url}/api/v1/otlp` : this.#daemon.otlpUrl;
    const answer = await fetch(`${base}/v1/${signal}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: jsonOf(request),
    });
    const text = await answer.text();
    if (answer.ok && text !== '{}') throw new Error(`not all was taken: ${text}`);
    return outcomeOf(answer);
  }

  async sendGrpc(
    signal: 'traces' | 'metrics' | 'logs',
    request: object,
    key = this.api.adminKey,
  ): Promise<Outcome> {
    let headers: Metadata | undefined;
    const onMetadata = (metadata: Metadata): void => void (headers = metadata);
    const call = this.#grpc(signal, protobufOf(signal, request), { key, onMetadata });
    const failure = await call.then(
      () => undefined,
      async () => await grpcFailureOf(call),
    );
    if (failure === undefined) return { isTaken: true, quota: quotaOf({ headers }) };
    if (failure.code !== Code.RESOURCE_EXHAUSTED) throw new Error(`${failure.code}: ${failure.message}`);
    return {
      isTaken: false,
      quota: quotaOf({ headers: failure.metadata }),
      retryAfter: failure.retryAfter,
    };
  }

  /** The number of spans of each stored run, by id. */
  async storedSpans(key = this.api.adminKey): Promise<Map<string, number>> {
    const stored = new Map<string, number>();
    for (let page = 1; ; page++) {
      const { items, has_more } = await this.api.get<{
        readonly items: readonly { readonly trace_id: string; readonly span_count: number }[];
        readonly has_more: boolean;
      }>(`/dashboard/traces?page=${page}&page_size=100`, key);
      for (const { trace_id, span_count } of items) stored.set(trace_id, span_count);
      if (!has_more) return stored;
    }
  }
}

/** The run as a batch item. */
export function itemOf({ traceId, spanIds }: Run, changes: Parameters<typeof anItem>[0] = {}) {
  const { trace } = anItem({ ...changes, trace: { ...changes.trace, trace_id: traceId }, spans: 0 });
  return { trace, spans: spanIds.map((span_id) => aSpan(traceId, { span_id })) };
}

function otlpOf({ traceId, spanIds }: Run): object {
  const spans = spanIds.map((id, index) =>
    anOtlpSpan(index + 1, { traceId: bytesOf(traceId), spanId: bytesOf(id).subarray(0, 8) }),
  );
  return tracesOf(...spans);
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

function outcomeOf(answer: { readonly status: number; readonly headers: Headers }): Outcome {
  const quota = quotaOf(answer);
  if (answer.status === 200) return { isTaken: true, quota };
  if (answer.status !== 429) throw new Error(`the answer is ${answer.status}`);
  return { isTaken: false, quota, retryAfter: Number(answer.headers.get('retry-after')) };
}

function expectCode(body: unknown): void {
  if ((body as { readonly code?: string }).code !== 'quota_exceeded')
    throw new Error(`429 for another reason: ${JSON.stringify(body)}`);
}
