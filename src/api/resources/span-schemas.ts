import { Type, type TSchema } from 'typebox';
import { RUN_STATUSES, SPAN_TYPES } from '../../signal/span.js';
import type { serializeSpanHead } from '../../storage/shared/serialize-span.js';
import { count, jsonObject, nullable, time, usd, uuid } from '../support/fields.js';
import { detailFields } from './span-detail.js';

const headFields = {
  span_id: uuid(),
  trace_id: uuid(),
  parent_span_id: nullable(uuid()),
  type: Type.Enum(SPAN_TYPES),
  name: Type.String(),
  status: Type.Enum(RUN_STATUSES),
  started_at: time(),
  ended_at: nullable(time()),
  duration_ms: nullable(Type.Number()),
  model: nullable(Type.String()),
  input_tokens: nullable(Type.Number()),
  output_tokens: nullable(Type.Number()),
  total_tokens: nullable(Type.Number()),
  cost_usd: nullable(usd()),
  error_message: nullable(Type.String()),
  counted: Type.Optional(
    Type.Literal(false, {
      description:
        'Set if another span reports the same model call and the call is counted there. The call and tokens of this span are not counted unless it reports more; its cost is, if that span has none. Its own values are shown as sent.',
    }),
  ),
  same_as: Type.Optional(uuid('With `counted`: the span on which the call is counted.')),
} satisfies Record<keyof ReturnType<typeof serializeSpanHead>, TSchema>;

export const spanFields = {
  ...headFields,
  input_data: nullable(jsonObject()),
  output_data: nullable(jsonObject()),
};

export const spanSchema = Type.Object(spanFields, { title: 'Span' });
export const detailedSpanSchema = Type.Object({ ...spanFields, ...detailFields }, { title: 'SpanDetail' });
export const spanSummarySchema = Type.Object(
  {
    ...headFields,
    node: nullable(Type.String({ description: 'Its node in the service map.' })),
    input_bytes: nullable(count('Size of its own `input_data` as JSON; null if it has none.')),
    output_bytes: nullable(count('The same for `output_data`.')),
    preview: nullable(
      Type.String({ description: 'The beginning of its `input_data` as JSON: up to 200 characters.' }),
    ),
  },
  { title: 'OutlinedSpan' },
);
