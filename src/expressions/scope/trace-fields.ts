import { moneyToNumber } from '../../signal/money.js';
import { declaredContext } from '../../signal/run-context.js';
import { durationMs } from '../../runs/rules/completion.js';
import { RUN_STATUSES } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';
import { spanView } from './span-view.js';
import {
  maybeCount,
  maybeFlag,
  maybeNumber,
  maybeObject,
  maybeText,
  maybeTexts,
  maybeTime,
  text,
  time,
  word,
  type Field,
  type Fields,
} from './field.js';
import type { NanoUsd } from '../../signal/money.js';
import type { SpanRecord } from '../../signal/span.js';

const spans: Field<TraceRecord> = {
  type: 'list<Span>',
  description: 'those of the same request, or all spans of a buffered run',
  isOptional: false,
  // Several conditions then read the attributes of a span once.
  isDerived: true,
  read: (trace) => trace.spans.map(spanView),
};

/** Fields of a run for expressions: its header, as sent or as derived from the spans of one request. */
export const TRACE_FIELDS = {
  trace_id: text('UUID', ({ trace }) => trace.trace_id),
  agent: text('its name', ({ trace }) => trace.agent),
  kind: word('', ['agent', 'other'], ({ trace }) => trace.kind),
  status: word('', RUN_STATUSES, ({ trace }) => trace.status),
  started_at: time('', ({ trace }) => trace.started_at),
  ended_at: maybeTime('', ({ trace }) => trace.ended_at),
  duration_ms: maybeNumber(
    'milliseconds',
    ({ trace }) => trace.duration_ms ?? durationMs(trace.started_at, trace.ended_at),
  ),
  success: maybeFlag('', ({ trace }) => trace.success),
  outcome: maybeText('', ({ trace }) => trace.outcome),
  error_message: maybeText('', ({ trace }) => trace.error_message),
  total_tokens: maybeCount('the sum of the spans if the header has none', totalTokens),
  total_cost_usd: maybeNumber('US dollars; the sum of the spans if the header has none', (record) => {
    const cost = totalCost(record);
    return cost === null ? null : moneyToNumber(cost);
  }),
  metadata: maybeObject('', ({ trace }) => trace.metadata),
  session_id: maybeText('', ({ trace }) => declaredContext(trace).session_id),
  user_id: maybeText('end user of the run', ({ trace }) => declaredContext(trace).user_id),
  tags: maybeTexts('', ({ trace }) => declaredContext(trace).tags),
  environment: maybeText('of the deployment', ({ trace }) => declaredContext(trace).environment),
  release: maybeText('deployed version of the program', ({ trace }) => declaredContext(trace).release),
  agent_version: maybeText('', ({ trace }) => declaredContext(trace).agent_version),
  repository: maybeText('that the agent works on', ({ trace }) => declaredContext(trace).repository),
  sdk_version: maybeText('', ({ trace }) => trace.sdk_version),
  sample_rate: maybeNumber(
    'fraction of similar runs that sampling has kept so far',
    ({ trace }) => trace.sample_rate,
  ),
  spans,
} as const satisfies Fields<TraceRecord>;

/** The tokens of a run: from its header, otherwise from its spans. */
function totalTokens({ trace, spans }: TraceRecord): number | null {
  return trace.total_tokens ?? sumOf(spans, tokensOf);
}

/** The cost of a run: from its header, otherwise from its spans. */
function totalCost({ trace, spans }: TraceRecord): NanoUsd | null {
  return trace.total_cost_usd ?? sumOf(spans, ({ cost_usd }) => cost_usd);
}

function tokensOf({ total_tokens, input_tokens, output_tokens }: SpanRecord): number | null {
  if (total_tokens !== null) return total_tokens;
  return input_tokens === null && output_tokens === null ? null : (input_tokens ?? 0) + (output_tokens ?? 0);
}

/** @returns null if no span has a value */
function sumOf(spans: readonly SpanRecord[], read: (span: SpanRecord) => number | null): number | null {
  let sum: number | null = null;
  for (const span of spans) {
    const one = read(span);
    if (one !== null) sum = (sum ?? 0) + one;
  }
  return sum;
}
