import type { JsonObject } from '../../src/signal/attributes.js';

/** Attributes of the resource and the root of a run. */
interface Sender {
  readonly agent: string;
  readonly session: string | null;
  readonly customer: string | null;
}

/** @param spans in batch format @returns the same spans in OTLP/JSON, as an OpenTelemetry client sends them */
export function otlpRequest({ agent, session, customer }: Sender, spans: readonly JsonObject[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes({ 'service.name': 'shop' }) },
        scopeSpans: [
          {
            scope: { name: 'a client' },
            spans: spans.map((span) => otlpSpan(span, { agent, session, customer })),
          },
        ],
      },
    ],
  };
}

function otlpSpan(span: JsonObject, { agent, session, customer }: Sender): object {
  const isRoot = span['parent_span_id'] === null;
  const failed = span['status'] === 'failed';
  return {
    traceId: hex(span['trace_id'], 32),
    spanId: hex(span['span_id'], 16),
    parentSpanId: isRoot ? '' : hex(span['parent_span_id'], 16),
    name: span['name'],
    kind: 3,
    startTimeUnixNano: nanos(span['started_at']),
    endTimeUnixNano: nanos(span['ended_at'] ?? span['started_at']),
    status: failed ? { code: 2, message: span['error_message'] ?? '' } : { code: 1 },
    attributes: attributes({
      ...(isRoot && { 'gen_ai.agent.name': agent, 'session.id': session, 'user.id': customer }),
      ...attributesOf(span),
    }),
  };
}

function attributesOf(span: JsonObject): Readonly<Record<string, unknown>> {
  switch (span['type']) {
    case 'llm':
      return {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': span['model'],
        'gen_ai.usage.input_tokens': span['input_tokens'],
        'gen_ai.usage.output_tokens': span['output_tokens'],
        'gen_ai.input.messages': JSON.stringify((span['input_data'] as JsonObject)['messages']),
      };
    case 'agent':
      return { 'gen_ai.operation.name': 'invoke_agent' };
    case 'tool':
      return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': span['name'] };
    case 'http':
      return {
        'http.request.method': 'GET',
        'url.full': 'https://orders.example/v1',
        'server.address': 'orders.example',
      };
    case 'db':
      return { 'db.system.name': 'postgresql', 'db.query.text': 'SELECT 1' };
    default:
      return { 'app.step': span['name'] };
  }
}

function attributes(values: Readonly<Record<string, unknown>>): object[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }];
  });
}

function hex(id: unknown, digits: number): string {
  return String(id).replaceAll('-', '').slice(0, digits);
}

function nanos(time: unknown): string {
  return `${Date.parse(String(time))}000000`;
}
