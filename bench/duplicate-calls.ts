import { randomBytes } from 'node:crypto';
import type { Api } from './api.js';
import { attributes } from './otlp-body.js';

const SCOPES = ['opentelemetry.instrumentation.langchain', 'opentelemetry.instrumentation.openai.v1'];

/** A run of an agent that calls a model again and again, of each call of which two instrumentations tell: by OTLP. */
export class DuplicateCallsTrace {
  readonly #traceId = randomBytes(16).toString('hex');
  readonly #rootId = randomBytes(8).toString('hex');
  readonly #begun = BigInt(Date.now()) * 1_000_000n;
  readonly #api: Api;
  spans = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  get id(): string {
    return this.#traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  /** @param size spans of a request */
  async send(requests: number, size: number): Promise<void> {
    for (let request = 0; request < requests; request++) {
      const spans = SCOPES.map((_, reporter) =>
        Array.from({ length: size / SCOPES.length }, (_, i) =>
          this.#call(this.spans / SCOPES.length + i, reporter),
        ),
      );
      // The agent itself comes with the first of them, in place of a call of which then one tells.
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

  /** @param start in microseconds since the trace began */
  #span(spanId: string, start: number, end: number): object {
    const time = (micros: number): string => String(this.#begun + BigInt(micros) * 1000n);
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
