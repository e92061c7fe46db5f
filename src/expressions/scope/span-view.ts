import { type SpanRecord, RUN_STATUSES, SPAN_TYPES } from '../../signal/span.js';
import { viewType, type View } from './view.js';
import { durationMs } from '../../runs/rules/completion.js';
import { moneyToNumber } from '../../signal/money.js';
import { attributesOf, KIND_WORDS, otlpKindOf } from '../../otlp/map/resource-of.js';
import { seenMetadata } from '../../signal/sent-span.js';
import {
  maybeCount,
  maybeNumber,
  maybeObject,
  maybeText,
  maybeTexts,
  maybeTime,
  text,
  time,
  word,
  type Fields,
} from './field.js';

const metadata = maybeObject<SpanRecord>('attributes and other data of the span', seenMetadata);

const attributes = maybeObject<SpanRecord>('as sent by OTLP; metadata for other spans', attributesOf);

/** Fields of a span for expressions. */
const SPAN_FIELDS = {
  span_id: text('UUID', (span) => span.span_id),
  trace_id: text('UUID', (span) => span.trace_id),
  parent_span_id: maybeText('UUID', (span) => span.parent_span_id),
  type: word('kind of step', SPAN_TYPES, (span) => span.type),
  kind: word('OTLP span kind; `unspecified` if not sent by OTLP', KIND_WORDS, otlpKindOf),
  name: text('', (span) => span.name),
  status: word('', RUN_STATUSES, (span) => span.status),
  started_at: time('', (span) => span.started_at),
  ended_at: maybeTime('', (span) => span.ended_at),
  duration_ms: maybeNumber(
    'milliseconds',
    (span) => span.duration_ms ?? durationMs(span.started_at, span.ended_at),
  ),
  model: maybeText('of a model call', (span) => span.model),
  provider: maybeText('provider of the model', (span) => span.call?.provider),
  input_tokens: maybeCount('', (span) => span.input_tokens),
  output_tokens: maybeCount('', (span) => span.output_tokens),
  total_tokens: maybeCount('', (span) => span.total_tokens),
  cost_usd: maybeNumber('US dollars', ({ cost_usd }) => (cost_usd === null ? null : moneyToNumber(cost_usd))),
  error_message: maybeText('', (span) => span.error_message),
  input_data: maybeObject('', (span) => span.input_data),
  output_data: maybeObject('', (span) => span.output_data),
  attributes: { ...attributes, isOptional: false, isDerived: true },
  metadata: { ...metadata, isDerived: true },
  session_id: maybeText('', (span) => span.context?.session_id),
  user_id: maybeText('end user of the run', (span) => span.context?.user_id),
  tags: maybeTexts('', (span) => span.context?.tags),
} as const satisfies Fields<SpanRecord>;

export const SPAN_TYPE = viewType<SpanRecord>('Span', SPAN_FIELDS);

export function spanView(span: SpanRecord): View<SpanRecord> {
  return new SPAN_TYPE.view(span);
}
