import { randomUUID, randomBytes } from 'node:crypto';
import { Client } from 'undici';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { attributes } from './otlp-body.js';
import { cpuSeconds, residentMiB } from './process-usage.js';
import { lines, ms, printSetup, table, type Print } from './report.js';

const SPANS_PER_REQUEST = 100;
const SPAN = '{"span_id"';

export interface LongTraceOptions {
  /** Trace sizes in spans at which requests are measured, ascending. */
  readonly sizes: readonly number[];
  /** Requests to measure at each size. */
  readonly requests: number;
  /** Whether the spans are model calls that two instrumentations report. */
  readonly twice?: boolean;
}

/** `npm run bench -- long-trace`: the cost of adding spans to a long trace, and whether all of them can be read. */
export async function longTrace(
  options: LongTraceOptions,
  print: Print,
): Promise<{ readonly isComplete: boolean }> {
  printSetup(print, 'long-trace', {
    sizes: options.sizes.join(','),
    requests: options.requests,
    twice: options.twice === true,
  });
  return await withTempDirectory((directory) => measure(options, directory, print));
}

async function measure(
  { sizes, requests, twice = false }: LongTraceOptions,
  directory: string,
  print: Print,
): Promise<{ readonly isComplete: boolean }> {
  const daemon = await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY }));
  const api = new Api(daemon.url, BENCH_KEY);
  try {
    const traceOf = twice ? () => new DuplicateCallsTrace(api) : () => new Trace(api);
    const trace = traceOf();
    // The first requests of a process are slower.
    await traceOf().send(2 * requests, SPANS_PER_REQUEST);
    const rows: string[][] = [];
    let first: number | undefined;
    for (const size of sizes) {
      await trace.send(Math.ceil((size - trace.spans) / SPANS_PER_REQUEST), SPANS_PER_REQUEST);
      const [cpuBefore, startedMs] = [await cpuSeconds(daemon.pid), performance.now()];
      await trace.send(requests, SPANS_PER_REQUEST);
      const durationMs = (performance.now() - startedMs) / requests;
      const cpu = (((await cpuSeconds(daemon.pid)) ?? NaN) - (cpuBefore ?? NaN)) * 1e6;
      const cost = cpu / (requests * SPANS_PER_REQUEST);
      first ??= cost;
      const memory = await residentMiB(daemon.pid);
      rows.push([
        String(size),
        cost.toFixed(1),
        (cost / first).toFixed(2),
        ms(durationMs),
        (memory ?? NaN).toFixed(0),
      ]);
    }
    print(table(['spans in the trace', 'CPU µs per span', 'ratio', 'ms per request', 'MiB'], rows));
    const startedMs = performance.now();
    const readSpans = await countSpans(daemon.url, trace.id);
    const runs = (await api.agents()).reduce((sum, agent) => sum + agent.total_runs, 0);
    const isComplete = readSpans === trace.spans && runs === 2;
    print(
      lines([
        ['sent', String(trace.spans)],
        ['read back', `${readSpans} spans in ${ms(performance.now() - startedMs)} ms`],
        ['runs', String(runs)],
        ['stored', isComplete ? 'complete' : 'NOT COMPLETE'],
      ]),
    );
    await api.close();
    await daemon.stop();
    return { isComplete };
  } finally {
    await daemon.kill();
  }
}

/** A run that never ends. Its spans form a shallow tree. */
class Trace {
  readonly id = randomUUID();
  spans = 0;
  readonly #api: Api;
  #parents: (string | null)[] = [null];

  constructor(api: Api) {
    this.#api = api;
  }

  /** @param size spans per request */
  async send(requests: number, size: number): Promise<void> {
    for (let request = 0; request < requests; request++) {
      const started_at = new Date().toISOString();
      const spans = Array.from({ length: size }, (_, i) => this.#span(i, started_at));
      const header = { trace_id: this.id, agent: 'endless', status: 'running', started_at };
      const answer = await this.#api.post('/traces/batch', { traces: [{ trace: header, spans }] });
      const { accepted } = answer as { readonly accepted?: number };
      if (accepted !== 1)
        throw new Error(`The daemon refused a batch: ${JSON.stringify(answer).slice(0, 300)}`);
      this.spans += size;
    }
  }

  #span(i: number, started_at: string): object {
    const span_id = randomUUID();
    const parent_span_id = this.#parents[i % this.#parents.length] ?? null;
    if (this.#parents.length < 32) this.#parents.push(span_id);
    return {
      span_id,
      trace_id: this.id,
      parent_span_id,
      type: i % 3 === 0 ? 'llm' : 'custom',
      name: `step ${i % 7}`,
      status: 'completed',
      started_at,
      ended_at: started_at,
      ...(i % 3 === 0 ? { input_tokens: 10, output_tokens: 5, cost_usd: 0.001 } : {}),
    };
  }
}

/** Counts the spans of a trace while reading it, without buffering the body. */
async function countSpans(url: string, traceId: string): Promise<number> {
  const client = new Client(url, { headersTimeout: 120_000, bodyTimeout: 120_000 });
  const { body } = await client.request({
    method: 'GET',
    path: `/api/v1/dashboard/traces/${traceId}`,
    headers: { authorization: `Bearer ${BENCH_KEY}` },
  });
  let count = 0;
  let rest = '';
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const text = rest + chunk.toString('latin1');
    count += text.split(SPAN).length - 1;
    // Keeps a possible start of the marker, never all of it.
    rest = text.slice(1 - SPAN.length);
  }
  await client.close();
  return count;
}

const SCOPES = ['opentelemetry.instrumentation.langchain', 'opentelemetry.instrumentation.openai.v1'];

/** A run of model calls by OTLP, each reported by two instrumentations. */
class DuplicateCallsTrace {
  readonly id = randomUUID();
  readonly #traceId = this.id.replaceAll('-', '');
  readonly #rootId = randomBytes(8).toString('hex');
  readonly #startNanos = BigInt(Date.now()) * 1_000_000n;
  readonly #api: Api;
  spans = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  /** @param size spans per request */
  async send(requests: number, size: number): Promise<void> {
    for (let request = 0; request < requests; request++) {
      const spans = SCOPES.map((_, reporter) =>
        Array.from({ length: size / SCOPES.length }, (_, i) =>
          this.#call(this.spans / SCOPES.length + i, reporter),
        ),
      );
      // The root span replaces the first call of one instrumentation.
      if (this.spans === 0) spans[0]?.splice(0, 1, this.#root());
      const scopeSpans = SCOPES.map((name, reporter) => ({ scope: { name }, spans: spans[reporter] }));
      const resource = { attributes: attributes({ 'service.name': 'endless' }) };
      await this.#api.post('/otlp/v1/traces', { resourceSpans: [{ resource, scopeSpans }] });
      this.spans += size;
    }
  }

  #root(): object {
    const agent = attributes({ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'endless' });
    return {
      ...this.#span(this.#rootId, 0, 1_000_000),
      parentSpanId: '',
      name: 'invoke_agent',
      attributes: agent,
    };
  }

  #call(number: number, reporter: number): object {
    const fields = attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-5-mini',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
    });
    const at = number * 1000 + reporter * 10;
    return {
      ...this.#span(randomBytes(8).toString('hex'), at, at + 900 - reporter * 20),
      attributes: fields,
    };
  }

  /** @param start @param end microseconds since the start of the trace */
  #span(spanId: string, start: number, end: number): object {
    const time = (micros: number): string => String(this.#startNanos + BigInt(micros) * 1000n);
    return {
      traceId: this.#traceId,
      spanId,
      parentSpanId: this.#rootId,
      name: 'chat gpt-5-mini',
      kind: 1,
      startTimeUnixNano: time(start),
      endTimeUnixNano: time(end),
    };
  }
}
