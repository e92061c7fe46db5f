import { byDepth } from './trace-order.js';
import { moneyToNumber, moneyToText } from '../../src/signal/money.js';
import type { RunStatus, SpanType } from '../../src/signal/span.js';
import type { JsonObject } from '../../src/signal/attributes.js';
import { recursiveUsage } from './recursive-usage.js';
import type { Shown, ShownTrace } from './traces-client.js';

/** Fields of a message about a trace or span; null: not sent. Times in milliseconds, money in nano-USD. */
interface SentFields {
  readonly status: RunStatus;
  readonly startMs: number;
  readonly endMs: number | null;
  readonly error_message: string | null;
  readonly total_tokens: number | null;
  readonly costNanos: number | null;
}

interface SentTrace extends SentFields {
  readonly trace_id: string;
  readonly agent: string;
  readonly success: boolean | null;
  readonly outcome: string | null;
  readonly metadata: JsonObject | null;
}

export interface SentSpan extends SentFields {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly type: SpanType;
  readonly name: string;
  readonly model: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly input_data: JsonObject | null;
  readonly output_data: JsonObject | null;
}

export interface SentRun {
  readonly trace: SentTrace;
  readonly spans: readonly SentSpan[];
}

interface KnownTrace {
  fields: SentTrace;
  readonly spans: Map<string, SentSpan>;
}

/**
 * Reference model of what a user sees of accepted data: the first message about a trace or span wins; only a running one is completed by
 * a later message with another status, which fills missing values; the same span id in another trace is another span.
 */
export class TraceModel {
  readonly #traces = new Map<string, KnownTrace>();

  get traceCount(): number {
    return this.#traces.size;
  }

  accept({ trace, spans }: SentRun): void {
    const known = this.#traces.get(trace.trace_id) ?? { fields: trace, spans: new Map<string, SentSpan>() };
    known.fields = completed(known.fields, trace);
    this.#traces.set(trace.trace_id, known);
    for (const span of spans) {
      known.spans.set(span.span_id, completed(known.spans.get(span.span_id) ?? span, span));
    }
  }

  /** The trace in API format; null if nothing of it was accepted. */
  show(traceId: string): ShownTrace | null {
    const known = this.#traces.get(traceId);
    if (!known) return null;
    const { fields } = known;
    const spans = [...known.spans.values()];
    const tied = byDepth(spans);
    const costNanos = fields.costNanos ?? usage(spans, (span) => span.costNanos);
    return {
      trace_id: fields.trace_id,
      agent_name: fields.agent,
      sample_rate: null,
      kind: 'agent',
      session_id: null,
      user_id: null,
      tags: [],
      environment: null,
      release: null,
      agent_version: null,
      repository: null,
      ...shownTimes(fields),
      status: fields.status,
      success: fields.success,
      outcome: fields.outcome,
      error_message: fields.error_message,
      total_tokens: fields.total_tokens ?? usage(spans, tokensOf),
      total_cost_usd: costNanos === null ? null : moneyToNumber(costNanos),
      metadata: fields.metadata,
      scores: [],
      spans: spans.sort((a, b) => a.startMs - b.startMs || tied(a, b)).map((span) => showSpan(traceId, span)),
    };
  }
}

function completed<S extends SentFields>(first: S, later: S): S {
  if (first.status !== 'running' || later.status === 'running') return first;
  const filled = Object.entries(first).map(([key, value]: [string, unknown]) => [
    key,
    value ?? later[key as keyof S],
  ]);
  return { ...(Object.fromEntries(filled) as S), status: later.status };
}

function showSpan(traceId: string, span: SentSpan): Shown {
  const { costNanos, startMs, endMs, ...rest } = span;
  return {
    ...rest,
    ...shownTimes({ startMs, endMs }),
    trace_id: traceId,
    total_tokens: tokensOf(span),
    cost_usd: costNanos === null ? null : moneyToNumber(costNanos),
  };
}

function shownTimes({ startMs, endMs }: Pick<SentFields, 'startMs' | 'endMs'>): Shown {
  const print = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
  return {
    started_at: print(startMs),
    ended_at: endMs === null ? null : print(endMs),
    duration_ms: endMs === null ? null : endMs - startMs,
  };
}

function tokensOf(span: SentSpan): number | null {
  if (span.total_tokens !== null) return span.total_tokens;
  if (span.input_tokens === null && span.output_tokens === null) return null;
  return (span.input_tokens ?? 0) + (span.output_tokens ?? 0);
}

function usage(spans: readonly SentSpan[], measure: (span: SentSpan) => number | null): number | null {
  return recursiveUsage(spans, measure, ({ type }) => type);
}

/** The item as an SDK sends it; missing values are omitted. */
export function toItem({ trace, spans }: SentRun): { trace: JsonObject; spans: JsonObject[] } {
  return {
    trace: wire(trace, 'total_cost_usd'),
    spans: spans.map((span) => ({ ...wire(span, 'cost_usd'), trace_id: trace.trace_id })),
  };
}

function wire({ startMs, endMs, costNanos, ...rest }: SentTrace | SentSpan, costField: string): JsonObject {
  const fields = {
    ...rest,
    started_at: new Date(startMs).toISOString(),
    ended_at: endMs === null ? null : new Date(endMs).toISOString(),
    [costField]: costNanos === null ? null : moneyToText(costNanos),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
