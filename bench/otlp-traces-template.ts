import type { BatchBody, RunBody, SpanBody } from '../src/cli/demo/body.js';
import { traceUuid } from '../src/otlp/wire/ids.js';
import type { KeyValue, Span } from '../src/otlp/wire/requests.js';
import type { BodyTemplate, RefreshContext } from './body-template.js';
import type { SampledTrace } from './load-plan.js';
import { attributes, encode, Placeholders, type Placeholder } from './otlp-body.js';

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const STATUS_OK = 1;
const STATUS_ERROR = 2;
const INTERNAL = 1;
const CLIENT = 3;

type ExtraAttributes = (span: SpanBody) => Readonly<Record<string, string | number>>;

/** Placeholders of a trace. */
interface TracePlaceholders {
  readonly durationMs: number;
  readonly traceIds: readonly Placeholder[];
  /** For each span, its id and its uses as a parent id. */
  readonly spanIds: readonly (readonly Placeholder[])[];
  readonly times: readonly { readonly placeholder: Placeholder; readonly afterStartMs: number }[];
}

/** An OTLP traces request in protobuf: runs of the demo as GenAI spans with about 20 attributes. */
export class OtlpTracesTemplate implements BodyTemplate {
  readonly bytes: Buffer;
  readonly items: number;
  readonly #traces: readonly TracePlaceholders[];

  /** @param extra additional attributes of a span */
  constructor(batch: BatchBody, extra: ExtraAttributes = () => ({})) {
    const placeholders = new Placeholders();
    const traces: TracePlaceholders[] = [];
    const resourceSpans = batch.traces.map((run) => {
      const { spans, trace } = spansOf(run, placeholders, extra);
      traces.push(trace);
      const service = run.trace.agent;
      return {
        resource: {
          attributes: attributes({
            'service.name': service,
            'service.version': '1.4.2',
            'deployment.environment.name': 'production',
            'telemetry.sdk.language': 'nodejs',
            'telemetry.sdk.version': '2.12.0',
          }),
        },
        scopeSpans: [{ scope: { name: 'agent-framework', version: '0.9.1' }, spans }],
      };
    });
    this.bytes = encode('traces', { resourceSpans });
    placeholders.locate(this.bytes);
    this.#traces = traces;
    this.items = batch.traces.reduce((sum, run) => sum + run.spans.length, 0);
  }

  get units(): number {
    return this.#traces.length;
  }

  refresh(fresh: RefreshContext): void {
    const { ids, nanos } = fresh;
    this.#traces.forEach((trace, index) => {
      ids.writeBytes(this.bytes, trace.traceIds, TRACE_ID_BYTES);
      for (const idPlaceholders of trace.spanIds) ids.writeBytes(this.bytes, idPlaceholders, SPAN_ID_BYTES);
      const startMs = fresh.startMs(index / this.#traces.length, trace.durationMs);
      for (const { placeholder, afterStartMs } of trace.times)
        nanos.write(this.bytes, placeholder.offset, startMs + afterStartMs);
    });
  }

  sample(): SampledTrace | undefined {
    const trace = this.#traces[Math.floor(Math.random() * this.#traces.length)];
    const at = trace?.traceIds[0]?.offset;
    if (trace === undefined || at === undefined) return undefined;
    const traceId = traceUuid(this.bytes.subarray(at, at + TRACE_ID_BYTES));
    return traceId === undefined ? undefined : { traceId, spans: trace.spanIds.length };
  }
}

function spansOf(
  run: RunBody,
  placeholders: Placeholders,
  extra: ExtraAttributes,
): { spans: Span[]; trace: TracePlaceholders } {
  const startMs = Date.parse(run.trace.started_at);
  const traceIds: Placeholder[] = [];
  const spanIds = new Map<string, Placeholder[]>();
  const times: { placeholder: Placeholder; afterStartMs: number }[] = [];
  const idOf = (spanId: string): Buffer => {
    const { placeholder, value } = placeholders.bytes(SPAN_ID_BYTES);
    spanIds.set(spanId, [...(spanIds.get(spanId) ?? []), placeholder]);
    return value;
  };
  const timeOf = (time: string) => {
    const { placeholder, value } = placeholders.fixed64();
    times.push({ placeholder, afterStartMs: Date.parse(time) - startMs });
    return value;
  };
  const spans = run.spans.map((span): Span => {
    // Placeholders must be created in the order of the protobuf fields.
    const { placeholder, value: traceId } = placeholders.bytes(TRACE_ID_BYTES);
    traceIds.push(placeholder);
    return {
      traceId,
      spanId: idOf(span.span_id),
      ...(span.parent_span_id === undefined ? {} : { parentSpanId: idOf(span.parent_span_id) }),
      name: span.name,
      kind: span.type === 'http' || span.type === 'db' || span.type === 'llm' ? CLIENT : INTERNAL,
      startTimeUnixNano: timeOf(span.started_at),
      endTimeUnixNano: timeOf(span.ended_at ?? span.started_at),
      attributes: attributesOf(run, span, extra(span)),
      status: span.status === 'failed' ? failed(span) : { code: STATUS_OK },
    };
  });
  const durationMs = Math.max(0, ...times.map(({ afterStartMs }) => afterStartMs));
  return { spans, trace: { durationMs, traceIds, spanIds: [...spanIds.values()], times } };
}

function failed({ error_message: message = 'failed' }: SpanBody) {
  return { code: STATUS_ERROR, message };
}

/** About 20 attributes: those of the semantic conventions for its type, and some that frameworks add to every span. */
function attributesOf(run: RunBody, span: SpanBody, extra: ReturnType<ExtraAttributes>): KeyValue[] {
  return attributes({
    'session.id': 'session-4711-a',
    'user.id': 'user-8150',
    'thread.id': 1,
    'thread.name': 'main',
    'code.function.name': `${run.trace.agent}.run`,
    'code.file.path': '/srv/agents/src/pipeline/step.js',
    'code.line.number': 214,
    'host.name': 'agents-7f6c9d5b8-x2k4q',
    'app.environment': 'production',
    'app.release': '2026.318',
    'app.queue': 'default',
    'app.attempt': 1,
    ...typeAttributes(run, span),
    ...extra,
  });
}

function typeAttributes(run: RunBody, span: SpanBody): Record<string, string | number | boolean> {
  const input = JSON.stringify(span.input_data ?? {});
  const output = JSON.stringify(span.output_data ?? {});
  switch (span.type) {
    case 'agent':
      return {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': run.trace.agent,
        'gen_ai.agent.id': 'agent-01',
        'gen_ai.conversation.id': 'conversation-4711',
        'input.value': input,
        'output.value': output,
      };
    case 'llm':
      return {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': span.model ?? '',
        'gen_ai.response.model': span.model ?? '',
        'gen_ai.response.id': 'chatcmpl-8f2e41',
        'gen_ai.request.temperature': 0.2,
        'gen_ai.request.max_tokens': 1024,
        'gen_ai.usage.input_tokens': span.input_tokens ?? 0,
        'gen_ai.usage.output_tokens': span.output_tokens ?? 0,
        'gen_ai.input.messages': input,
        'gen_ai.output.messages': output,
      };
    case 'tool':
      return {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': span.name,
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': 'call_5Kq2',
        'gen_ai.tool.call.arguments': input,
        'gen_ai.tool.call.result': output,
      };
    case 'http':
      return {
        'http.request.method': 'GET',
        'url.full': 'https://api.example.com/v1/items',
        'server.address': 'api.example.com',
        'server.port': 443,
        'http.response.status_code': 200,
        'network.protocol.version': '1.1',
      };
    case 'db':
      return {
        'db.system.name': 'postgresql',
        'db.namespace': 'app',
        'db.operation.name': 'SELECT',
        'db.query.text': 'SELECT id, name FROM items WHERE id = $1',
        'server.address': 'db.internal.example.com',
        'server.port': 5432,
      };
    case 'custom':
      return { 'step.input': input, 'step.output': output, 'step.cached': false };
  }
}
