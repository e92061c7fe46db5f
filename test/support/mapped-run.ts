import { toKeyValues } from '../../src/otlp/encode/value.js';
import { AgentNames, type AddedAgentNames } from '../../src/otlp/map/agent-names.js';
import { SpanMapper } from '../../src/otlp/map/span-record.js';
import { spansToTraces } from '../../src/otlp/map/spans-to-traces.js';
import type { Span } from '../../src/otlp/wire/requests.js';
import type { JsonObject, JsonValue } from '../../src/signal/attributes.js';
import type { SpanRecord } from '../../src/signal/span.js';
import { sumsOf } from './map-sums.js';
import { aSpan, START } from './otlp-requests.js';

/** A span as sent by a client; children start after it. */
export interface SentSpan {
  readonly name: string;
  readonly attributes?: JsonObject;
  /** 2 is an error. */
  readonly code?: number;
  readonly message?: string;
  /** OTLP span kind; 1 is internal. */
  readonly kind?: number;
  readonly events?: readonly { readonly name: string; readonly attributes: JsonObject }[];
  readonly children?: readonly SentSpan[];
}

/** The essentials of a run. Missing values are null or an empty list. */
export interface MappedRun {
  readonly agent: string;
  readonly status: string;
  readonly error: string | null;
  readonly session: JsonValue;
  readonly user: JsonValue;
  readonly tags: JsonValue;
  /** The model calls: model, provider, input and output tokens with their parts. */
  readonly calls: readonly (readonly JsonValue[])[];
  readonly tools: readonly (readonly [name: string, args: JsonValue, result: JsonValue])[];
  /** Input and output of the root. */
  readonly question: JsonValue;
  readonly answer: JsonValue;
  /** `caller > called` of the service map. */
  readonly edges: readonly string[];
}

export interface Sending {
  readonly service?: string;
  readonly scope?: string;
  /** Attributes of the resource besides `service.name`. */
  readonly resource?: JsonObject;
  readonly names?: AddedAgentNames;
}

/** Maps one run sent in a single request. */
export function mapRun(
  root: SentSpan,
  { service = 'svc', scope = 'some.scope', resource = {}, names }: Sending = {},
): MappedRun {
  const spans = numbered(root);
  const { batch, rejected } = spansToTraces(
    {
      resourceSpans: [
        {
          resource: { attributes: toKeyValues({ 'service.name': service, ...resource }) },
          scopeSpans: [{ scope: { name: scope }, spans }],
        },
      ],
    },
    { tenant: 'a user', idleTimeoutMs: null },
    new SpanMapper(new AgentNames(names)),
  );
  const [run] = batch.items;
  if (run === undefined) throw new Error(`not taken: ${rejected.join(', ')}`);
  const [top] = run.spans;
  return {
    agent: run.trace.agent,
    status: run.trace.status,
    error: run.trace.error_message,
    session: firstInput(run.spans, 'session_id'),
    user: firstInput(run.spans, 'user_id'),
    tags: firstInput(run.spans, 'tags'),
    calls: run.spans.filter(({ type }) => type === 'llm').map(callOf),
    tools: run.spans
      .filter(({ type }) => type === 'tool')
      .map(({ name, input_data, output_data }) => [
        name,
        input_data?.arguments ?? null,
        output_data?.result ?? null,
      ]),
    question: top?.input_data ?? null,
    answer: top?.output_data ?? null,
    edges: [...sumsOf(batch.items).edges.keys()],
  };
}

function callOf({ model, call, input_tokens, output_tokens }: SpanRecord): JsonValue[] {
  return [model, call?.provider ?? null, input_tokens, output_tokens, call?.usage ?? null];
}

function firstInput(spans: readonly SpanRecord[], name: string): JsonValue {
  return spans.map(({ metadata }) => metadata?.[name]).find((value) => value !== undefined) ?? null;
}

function numbered(root: SentSpan): Span[] {
  const spans: Span[] = [];
  const add = (sent: SentSpan, parent: Buffer | null): void => {
    const number = spans.length + 1;
    const { name, attributes = {}, code, message, kind = 1, events = [], children = [] } = sent;
    spans.push(
      aSpan(number, {
        name,
        kind,
        parentSpanId: parent,
        startTimeUnixNano: `${BigInt(START) + BigInt(number * 1000)}`,
        attributes: toKeyValues(attributes),
        status: { code, message },
        events: events.map((event) => ({ name: event.name, attributes: toKeyValues(event.attributes) })),
      }),
    );
    for (const child of children) add(child, Buffer.alloc(8, number));
  };
  add(root, null);
  return spans;
}
