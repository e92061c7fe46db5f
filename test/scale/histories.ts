import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { logRequest, type LogToSend } from '../support/log-request.js';
import { SPAN_TYPES } from '../../src/signal/span.js';
import type { JsonObject } from '../../src/signal/attributes.js';
import { someMetrics } from './some-metrics.js';
import { otlpRequest } from './otlp-request.js';
import type { Item } from '../support/trace-batch.js';

export const USERS = 3;
export const AGENTS = ['planner', 'Größe', 'researcher'] as const;
export const MODELS = ['gpt-4o', 'model two'] as const;
export const SESSIONS = ['session one', 'session two'] as const;

/** A request of one user to `/api/v1`. */
export interface SentRequest {
  readonly user: number;
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly json: object;
  /** The status of an accepted request. */
  readonly taken: number;
}

/**
 * The requests of several users. Requests of one stage may be sent in any order, concurrently and repeatedly. A stage
 * starts after the previous one was accepted, because contradicting requests must arrive later on both sides.
 */
export interface History {
  /** Sent first, in this order: creates everything the store numbers. */
  readonly first: readonly SentRequest[];
  readonly stages: readonly (readonly SentRequest[])[];
  readonly traceIds: readonly (readonly string[])[];
  readonly spanIds: ReadonlySet<string>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const span = fc.record({
  type: fc.constantFrom(...SPAN_TYPES),
  name: fc.constantFrom(
    'plan',
    'GET https://orders.example/v1',
    'orders.lookup',
    'Größe 🪶',
    'it\'s "quoted"',
  ),
  status: fc.constantFrom('completed', 'completed', 'failed', 'running'),
  parent: fc.option(fc.nat(7)),
  from: fc.integer({ min: 0, max: 600_000 }),
  length: fc.integer({ min: 0, max: 900_000 }),
  model: fc.option(fc.constantFrom(...MODELS)),
  input: fc.option(fc.nat(10_000)),
  output: fc.option(fc.nat(3000)),
  cost: fc.option(fc.constantFrom('0.000000021', '0.001250', '12.5', '999999')),
  error: fc.option(fc.constantFrom('no answer', 'refused\nbecause')),
  text: fc.string({ unit: 'grapheme', maxLength: 12 }),
});
type Span =
  typeof span extends fc.Arbitrary<infer Value> ? Omit<Value, 'name'> & { readonly name: string } : never;

const run = fc.record({
  user: fc.nat(USERS - 1),
  agent: fc.constantFrom(...AGENTS),
  isOtlp: fc.boolean(),
  /** Age of the run. */
  minutes: fc.constantFrom(90, 90, 150, 60 * 26, 60 * 24 * 40),
  spans: fc.array(span, { minLength: 1, maxLength: 8 }),
  /** The request number of each span. */
  parts: fc.array(fc.nat(2), { minLength: 8, maxLength: 8 }),
  status: fc.constantFrom('completed', 'failed', 'running'),
  success: fc.option(fc.boolean()),
  session: fc.option(fc.constantFrom(...SESSIONS)),
  customer: fc.option(fc.constantFrom('ann', 'bob')),
  tags: fc.option(fc.constantFrom<string[][]>(['new'], ['new', 'paid'])),
  prompt: fc.option(fc.nat(1)),
  later: fc.array(fc.constantFrom('repeat', 'contradiction', 'header', 'outcome', 'late span'), {
    maxLength: 3,
  }),
});
type Run = typeof run extends fc.Arbitrary<infer Value> ? Value : never;

/** Each user has versions of the prompt `greeting`. */
export const PROMPT = 'greeting';

/** @param seed reproduces a history except for ids and times */
export function makeHistory(seed: number, runs: number): History {
  const drawn = fc.sample(fc.array(run, { minLength: runs, maxLength: runs }), { seed, numRuns: 1 })[0] ?? [];
  const stages: SentRequest[][] = [[], [], [], []];
  const traceIds: string[][] = Array.from({ length: USERS }, () => []);
  const spanIds = new Set<string>();
  // Whole minutes, so that rounding cannot differ between the stores.
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  for (const one of drawn) {
    const made = new MadeRun(one, now);
    traceIds[one.user]?.push(made.traceId);
    for (const id of made.spanIds) spanIds.add(id);
    for (const [stage, requests] of made.stages().entries()) stages[stage]?.push(...requests);
  }
  const first = Array.from({ length: USERS }, (_, user) => [
    ...[1, 2].map((version) =>
      post(user, '/dashboard/prompts/', { name: PROMPT, version, template_text: `v${version}` }),
    ),
    // Records without ids are stored again when sent again.
    post(user, '/otlp/v1/logs', logRequest('shop', someLogs(traceIds[user] ?? [], now))),
    post(user, '/otlp/v1/metrics', someMetrics(now - HOUR_MS)),
    ...AGENTS.map((agent) => {
      const trace_id = randomUUID();
      traceIds[user]?.push(trace_id);
      return post(user, '/traces/batch', {
        traces: [{ trace: { trace_id, agent, started_at: new Date(now - DAY_MS).toISOString() }, spans: [] }],
      });
    }),
  ]).flat();
  return { first, stages, traceIds, spanIds };
}

function post(user: number, path: string, json: object): SentRequest {
  return { user, method: 'POST', path, json, taken: path.startsWith('/dashboard') ? 201 : 200 };
}

/** Records with and without runs, all at different times. */
function someLogs(traceIds: readonly string[], now: number): LogToSend[] {
  return [...traceIds, ''].flatMap((traceId, i) =>
    ['payment declined', 'Größe 🪶 "quoted"'].map((body, at) => ({
      body: `${body} ${i}`,
      nanos: BigInt(now - HOUR_MS + 10 * i + at) * 1_000_000n,
      severity: at === 0 ? 17 : 9,
      traceId: traceId.replaceAll('-', ''),
      attributes: { at: String(at) },
    })),
  );
}

/** A run with its ids. */
class MadeRun {
  readonly traceId = randomUUID();
  readonly spanIds: readonly string[];
  readonly #run: Run;
  readonly #start: number;

  constructor(drawn: Run, now: number) {
    this.#run = drawn;
    this.#start = now - drawn.minutes * MINUTE_MS;
    // One more for a span that arrives late.
    this.spanIds = Array.from({ length: drawn.spans.length + 1 }, () => randomUUID());
  }

  stages(): SentRequest[][] {
    const { spans, parts, later, user, prompt } = this.#run;
    const [first, ...others] = [0, 1, 2]
      .map((part) => spans.flatMap((each, i) => (parts[i] === part ? [this.#span(each, i)] : [])))
      .filter((part) => part.length > 0)
      .map((part) => this.#batch(part));
    const stages: SentRequest[][] = [first === undefined ? [] : [first, ...others], [], [], []];
    if (prompt !== null)
      stages[1]?.push(
        post(user, '/dashboard/prompts/usage', {
          prompt_name: PROMPT,
          prompt_version: prompt + 1,
          trace_id: this.traceId,
          span_id: this.spanIds[0],
        }),
      );
    for (const [i, kind] of later.entries()) stages[i + 1]?.push(this.#later(kind, i));
    return stages;
  }

  #later(kind: Run['later'][number], i: number): SentRequest {
    const { spans, user } = this.#run;
    const [first] = spans;
    if (first === undefined) throw new Error('a run has a span');
    if (kind === 'repeat') return this.#batch(spans.map((each, at) => this.#span(each, at)));
    if (kind === 'contradiction')
      return this.#batch([
        this.#span({ ...first, status: 'completed', input: 7, name: 'another', model: MODELS[1] }, 0),
      ]);
    if (kind === 'late span')
      return this.#batch([this.#span({ ...first, type: 'tool', from: 5000, parent: 0 }, spans.length)]);
    if (kind === 'header')
      return this.#batch([], {
        status: 'completed',
        success: true,
        outcome: 'it is done',
        metadata: { late: i },
      });
    const path = `/dashboard/traces/${this.traceId}/outcome`;
    return { user, method: 'PATCH', path, json: { success: i === 0, outcome: `looked at ${i}` }, taken: 200 };
  }

  #batch(spans: readonly JsonObject[], changes: JsonObject = {}): SentRequest {
    if (this.#run.isOtlp && spans.length > 0)
      return post(this.#run.user, '/otlp/v1/traces', otlpRequest(this.#run, spans));
    const { user, agent, status, success, session, customer, tags } = this.#run;
    const metadata = { session_id: session, user_id: customer, tags, team: 'one' };
    const trace = {
      ...{ trace_id: this.traceId, agent, status, success, metadata },
      started_at: new Date(this.#start).toISOString(),
      ...(status !== 'running' && { ended_at: new Date(this.#start + 20 * MINUTE_MS).toISOString() }),
      ...(status === 'failed' && { error_message: 'the run broke' }),
      ...changes,
    };
    const item: Item = { trace, spans: [...spans] };
    return post(user, '/traces/batch', { traces: [item] });
  }

  #span(drawn: Span, at: number): JsonObject {
    const { type, name, status, parent, from, length, model, input, output, cost, error, text } = drawn;
    const started = this.#start + from;
    return {
      ...{ span_id: this.spanIds[at] ?? '', trace_id: this.traceId, type, name, status },
      parent_span_id: parent === null || parent >= at ? null : (this.spanIds[parent] ?? null),
      started_at: new Date(started).toISOString(),
      ended_at: status === 'running' ? null : new Date(started + length).toISOString(),
      ...(type === 'llm' && { model, input_tokens: input, output_tokens: output, cost_usd: cost }),
      error_message: status === 'failed' ? error : null,
      input_data: { messages: [{ role: 'user', content: text }] },
      metadata: { at },
    };
  }
}
