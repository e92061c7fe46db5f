import { Type, type Static } from 'typebox';
import type { JsonObject } from '../../signal/attributes.js';
import { moneyToNumber, MOST_NANO_USD } from '../../signal/money.js';
import { RUN_STATUSES, SPAN_TYPES, type RunStatus } from '../../signal/span.js';

/**
 * The body of `POST /api/v1/traces/batch`: these schemas validate requests and are shown in `openapi.json`. Unknown fields are
 * ignored; null means absent. Formats: `uuid` is any 8-4-4-4-12 hex string, `date-time` what `parseTime` accepts, `decimal` what
 * `parseMoney` accepts.
 */

function optional<Value>(schema: object, description: string) {
  return Type.Optional(Type.Unsafe<Value | null>({ ...schema, description }));
}

const text = (description: string) => optional<string>({ type: ['string', 'null'] }, description);

const object = (description: string) => optional<JsonObject>({ type: ['object', 'null'] }, description);

const time = (description: string) =>
  optional<string>({ type: ['string', 'null'], format: 'date-time' }, description);

const duration = () =>
  optional<number>(
    { type: ['number', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    'Milliseconds. Derived from the two times if absent.',
  );

const tokens = (description: string) =>
  optional<number>({ type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, description);

const money = (description: string) =>
  optional<string | number>(
    {
      type: ['string', 'number', 'null'],
      format: 'decimal',
      minimum: 0,
      maximum: moneyToNumber(MOST_NANO_USD),
    },
    `${description} A decimal string (digits, no sign, no spaces), or a number, less than 1 000 000; rounded to nine decimal places, half to even.`,
  );

const status = () =>
  optional<RunStatus>({ enum: [...RUN_STATUSES, null], default: 'completed' }, 'State of the run or step.');

const uuid = (description: string) => Type.String({ format: 'uuid', description });

const startedAt = () =>
  Type.String({ format: 'date-time', description: 'ISO 8601 date-time; UTC without an offset.' });

export const TraceHeaderSchema = Type.Object(
  {
    trace_id: uuid('Chosen by the sender; identifies repeats.'),
    agent: Type.String({ description: 'Name of the agent; a new name creates a new agent.' }),
    status: status(),
    started_at: startedAt(),
    ended_at: time('Absent while the run is running.'),
    duration_ms: duration(),
    success: optional<boolean>(
      { type: ['boolean', 'null'] },
      'Whether the run succeeded, for the success rate.',
    ),
    outcome: text('Result of the run, as free text.'),
    error_message: text('Why the run failed.'),
    total_tokens: tokens('Sum over all spans. Derived from them if absent.'),
    total_cost_usd: money(
      'Cost of all spans in US dollars. Derived from them if absent, then at most 9007199.254740991.',
    ),
    metadata: object('Any data.'),
    sdk_version: optional<string>(
      { type: ['string', 'null'], default: '0.2.0' },
      'Version of the sending SDK.',
    ),
    environment: text('Environment of the deployment, such as `production`.'),
    release: text('Deployed version of the program.'),
    agent_version: text('Version of the agent.'),
    repository: text('Repository that the agent works on, such as `owner/name`.'),
  },
  { title: 'NewTrace', description: 'The header of one run.' },
);

export const SpanSchema = Type.Object(
  {
    span_id: uuid('Chosen by the sender; identifies repeats.'),
    trace_id: uuid('The trace_id of the item that contains the span.'),
    parent_span_id: optional<string>(
      { type: ['string', 'null'], format: 'uuid' },
      'Absent for a root span. The parent may arrive later.',
    ),
    type: Type.Unsafe<(typeof SPAN_TYPES)[number]>({
      enum: [...SPAN_TYPES],
      description: 'Kind of the step.',
    }),
    name: Type.String({ description: 'Readable name.' }),
    status: status(),
    started_at: startedAt(),
    ended_at: time('Absent while the step is running.'),
    duration_ms: duration(),
    model: text('For `llm` spans: the model.'),
    input_tokens: tokens('For `llm` spans: input tokens.'),
    output_tokens: tokens('For `llm` spans: output tokens.'),
    total_tokens: tokens('For `llm` spans: all tokens. Derived from the other two if absent.'),
    cost_usd: money('Cost in US dollars.'),
    input_data: object('The prompt, or the request.'),
    output_data: object('The completion, or the response.'),
    error_message: text('Why the step failed.'),
    metadata: object('Any data.'),
  },
  { title: 'NewSpan', description: 'One step of a run.' },
);

export const TraceItemSchema = Type.Object(
  { trace: TraceHeaderSchema, spans: Type.Array(SpanSchema) },
  { title: 'TraceItem' },
);

/** Other items do not break a rule of the whole body. */
const ANYTHING = Type.Unknown({ description: 'Any other item is rejected individually.' });

/** The whole body, for the documentation: items are validated individually. */
export const TraceBatchSchema = Type.Object(
  {
    traces: Type.Array(Type.Union([TraceItemSchema, ANYTHING]), {
      maxItems: 10_000,
      description: 'Runs, with at most 100 spans in all. Invalid runs are rejected; the others are stored.',
    }),
  },
  { title: 'TraceBatch' },
);

export const TraceBatchReplySchema = Type.Object(
  {
    accepted: Type.Integer({ description: 'Accepted traces, including repeats.' }),
    rejected: Type.Integer({ description: 'Rejected traces.' }),
    errors: Type.Array(
      Type.Object(
        {
          trace_id: Type.String({ description: 'As sent; empty if missing.' }),
          error: Type.String({
            description: 'The first invalid field, as a JSON Pointer into the item, and the reason.',
          }),
        },
        { title: 'RejectedTrace' },
      ),
      { description: 'One entry for each rejected trace, in the order of the request.' },
    ),
  },
  { title: 'TraceBatchReply' },
);

export type TraceItem = Static<typeof TraceItemSchema>;
export type TraceBatchReply = Static<typeof TraceBatchReplySchema>;
