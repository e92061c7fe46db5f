import { Type, type Static, type TSchema } from 'typebox';
import { duration, section } from '../../config/schema.js';
import { PluginsSchema } from '../../config/file-schema.js';
import { SpanSchema, TraceHeaderSchema } from '../../receivers/trace-batch/wire-format.js';
import { EVENT_TYPES } from '../../signal/event.js';
import { SEVERITIES } from '../../signal/log-record.js';
import { METRIC_TYPES, TEMPORALITIES } from '../../signal/metric.js';
import { Answered, Sent, ServersSchema } from './daemon/schema.js';

const text = (description: string) => Type.Optional(Type.String({ description }));
const map = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }));
const word = <const Words extends readonly string[]>(words: Words, description: string) =>
  Type.Optional(Type.Unsafe<Words[number]>({ enum: [...words], description }));
const strict = <Properties extends Record<string, TSchema>>(properties: Properties, description: string) =>
  section(properties, { description, isOptional: true });

/** The keys of a schema, without its types: the receiver reports invalid values itself, with better errors. */
function keysOf(schema: { readonly properties: Readonly<Record<string, unknown>> }) {
  return Object.fromEntries(
    Object.keys(schema.properties).map((key) => [key, Type.Optional(Type.Unknown({ description: key }))]),
  );
}

const Span = strict(
  keysOf(SpanSchema),
  'A span: the fields of the batch route; ids, type, name and times have defaults.',
);

const Trace = strict(
  {
    ...keysOf(TraceHeaderSchema),
    spans: Type.Array(Span, { default: [], description: 'Spans of the run.' }),
  },
  'A run: the fields of the batch route; id, agent and times have defaults.',
);

const Log = strict(
  {
    timestamp: text('RFC 3339; default: the time of the test.'),
    observed_at: text('RFC 3339.'),
    severity: word(SEVERITIES, 'info where absent.'),
    severity_text: text('As sent.'),
    body: Type.Optional(Type.Unknown({ description: 'A text, or any JSON value.' })),
    attributes: map('Attributes of the record.'),
    resource: map('Attributes of the resource.'),
    trace_id: text('UUID.'),
    span_id: text('UUID.'),
    event_name: text('Event name.'),
  },
  'A log record.',
);

const Point = strict(
  {
    name: Type.String({ description: 'Name of the metric.' }),
    type: word(METRIC_TYPES, 'Type of the metric. Default: gauge.'),
    unit: text('Unit of the metric.'),
    description: text('Description of the metric.'),
    temporality: word(TEMPORALITIES, 'For sums and histograms; default: cumulative.'),
    is_monotonic: Type.Optional(Type.Boolean({ description: 'For sums; default: true.' })),
    value: Type.Optional(Type.Number({ description: 'The value.' })),
    attributes: map('Attributes of the point.'),
    resource: map('Attributes of the resource.'),
    timestamp: text('RFC 3339; default: the time of the test.'),
    start_time: text('RFC 3339.'),
  },
  'A metric point.',
);

const Event = strict(
  {
    type: Type.Unsafe<(typeof EVENT_TYPES)[number]>({
      enum: [...EVENT_TYPES],
      description: 'Type of the event.',
    }),
    id: text('UUID.'),
    timestamp: text('RFC 3339; default: the time of the test.'),
    organization_id: text('UUID.'),
    endpoint_id: text('UUID.'),
    data: map('What receivers get as data.'),
  },
  'An event.',
);

const Input = strict(
  {
    traces: Type.Array(Trace, { default: [], description: 'Runs with their spans.' }),
    logs: Type.Array(Log, { default: [], description: 'Log records.' }),
    metrics: Type.Array(Point, { default: [], description: 'Metric points.' }),
    events: Type.Array(Event, { default: [], description: 'Events.' }),
    otlp: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      default: [],
      description: 'OTLP/JSON requests, decoded as by a receiver otlp.',
    }),
  },
  'What comes in, a batch for each signal.',
);
export type Input = Static<typeof Input>;

const items = (description: string) =>
  Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { description }));
const Refusal = strict(
  {
    index: Type.Optional(Type.Integer({ description: 'Position of the item in the input of its signal.' })),
    id: text('Id of the item.'),
    reason: text('The reason, or a part of it.'),
  },
  'A refused item.',
);

const Request = strict(
  {
    method: text('Default: POST, or the method of the exporter.'),
    url: text('The whole URL.'),
    server: text('For daemons: the server that received it.'),
    path: text('For daemons: path and query.'),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Headers, case-insensitive.' }),
    ),
    body: Type.Optional(Type.Unknown({ description: 'JSON as a value; ndjson as a list of values.' })),
    traces: items('For OTLP protobuf requests: the runs in the request.'),
    logs: items('For OTLP protobuf requests: the log records.'),
    metrics: items('For OTLP protobuf requests: the metric points.'),
  },
  'A request.',
);

const Delivered = strict(
  {
    traces: items('Runs, with their spans.'),
    logs: items('Log records.'),
    metrics: items('Metric points.'),
    events: items('Events.'),
  },
  'Input of an exporter of another type, after the processors of its template.',
);

const ServiceMap = strict(
  {
    nodes: items('Nodes by id: id, node_type, span_type, span_count, error_count.'),
    edges: items('Edges by source and target: source, target, weight, error_count.'),
  },
  'What a processor service_map derives.',
);

const Quota = strict(
  {
    used: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Items already used this month when the test starts.',
    }),
    monthly_event_limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "The user's own limit; 0: none. Default: that of the processor.",
      }),
    ),
  },
  'What a processor quota finds in the stores.',
);

const Expect = section(
  {
    traces: items('Runs that are passed on, with their spans.'),
    logs: items('Log records that are passed on.'),
    metrics: items('Metric points that are passed on.'),
    events: items('Events that are passed on.'),
    dropped: Type.Optional(
      Type.Record(
        Type.Unsafe<string>({ enum: ['spans', 'traces', 'logs', 'metrics', 'events'] }),
        Type.Integer(),
        {
          description: 'Number of dropped items by processor.',
        },
      ),
    ),
    refused: Type.Optional(Type.Array(Refusal, { description: 'Refused items. Default: none.' })),
    failed: text('The code or message with which a whole batch is refused, such as rate_limited.'),
    requests: Type.Optional(
      Type.Array(Request, {
        description: 'Requests of the exporter http; for daemons, requests to its servers.',
      }),
    ),
    answers: Type.Optional(
      Type.Array(Answered, { description: 'For daemons: responses to the requests of the step.' }),
    ),
    files: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'For daemons: files by their configured paths: the text or a list of JSON lines; null if missing.',
      }),
    ),
    log: Type.Optional(
      Type.Array(Type.String(), { description: 'For daemons: lines of the log, or parts of them.' }),
    ),
    delivered: Type.Optional(Delivered),
    service_map: Type.Optional(ServiceMap),
    usage: map('Quota afterwards: limit, used, resets_at. Empty if there is no limit.'),
  },
  { description: 'The expected result. Only listed keys are compared.', isOptional: true },
);

const step = {
  send: Type.Optional(Type.Array(Sent, { description: 'For daemons: requests sent in this order.' })),
  input: Type.Optional(Input),
  expect: Type.Optional(Expect),
};

const Case = strict(
  {
    name: Type.String({ minLength: 1, description: 'What is tested.' }),
    processors: Type.Optional(Type.Array(Type.String(), { description: 'Ids of processors: a chain.' })),
    pipeline: text('A pipeline of the configuration, whose processors are the chain.'),
    exporter: text('Id of an exporter after the chain.'),
    daemon: Type.Optional(
      Type.Boolean({
        description: 'Whether to run a whole daemon in isolation instead of a chain.',
      }),
    ),
    quota: Type.Optional(Quota),
    identity: Type.Optional(strict({ user_id: text('UUID.'), key_id: text('UUID.') }, 'Who sends it.')),
    ...step,
    steps: Type.Optional(
      Type.Array(
        strict(
          {
            after: Type.Optional(duration({ description: 'Time that passes before the step.' })),
            ...step,
          },
          'A step.',
        ),
        { minItems: 1, description: 'Several steps instead of one input and expect.' },
      ),
    ),
  },
  'A test.',
);
export type Case = Static<typeof Case>;

const components = (description: string) =>
  Type.Optional(Type.Unsafe<object>({ type: 'object', description, hasExpressions: true }));

/** A file of tests. */
export const TestFileSchema = section({
  config: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description:
        'Path of a configuration, relative to this file; with #2, the second YAML block of a Markdown page. Later ones are merged over earlier ones.',
    }),
  ),
  plugins: Type.Optional(PluginsSchema),
  processors: components('Processors of the tests, over those of the configuration.'),
  exporters: components('Exporters of the tests, over those of the configuration.'),
  receivers: components('For daemons: receivers over those of the configuration.'),
  extensions: components('For daemons: extensions that replace those of the configuration.'),
  service: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      description: 'For daemons: this section, over that of the configuration.',
    }),
  ),
  smtp: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      description: 'For daemons: this section, over that of the configuration.',
    }),
  ),
  auth: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      description: 'For daemons: this section, over that of the configuration.',
    }),
  ),
  servers: ServersSchema,
  files: Type.Record(
    Type.String(),
    section({
      text: text('What is in it.'),
      copy: text('Alternatively a file next to this one, or README.md#2, that contains it.'),
    }),
    { default: {}, description: 'For daemons: files by their paths in the configuration.' },
  ),
  env: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    default: {},
    description: 'Environment variables; those of the process are not used.',
  }),
  now: text('Time at which the tests start, RFC 3339. Default: 2026-01-15T12:00:00Z.'),
  tests: Type.Array(Case, { minItems: 1, description: 'The tests.' }),
});
export type TestFile = Static<typeof TestFileSchema>;
