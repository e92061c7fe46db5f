import { randomUUID } from 'node:crypto';
import { anItem, nestedText, type Item } from './trace-batch.js';

/** A rejected trace whose neighbours are accepted. */
export interface MalformedTrace {
  readonly name: string;
  /** The item as JSON text, which can contain more than any value. */
  readonly item: () => string;
  readonly error: RegExp;
}

function rejected(name: string, error: RegExp, change: (item: Item) => unknown): MalformedTrace {
  return {
    name,
    error,
    item: () => {
      const item = anItem({ spans: 2 });
      const changed = change(item);
      return typeof changed === 'string' ? changed : JSON.stringify(changed ?? item);
    },
  };
}

const header = (name: string, field: string, value: unknown, error: RegExp): MalformedTrace =>
  rejected(name, error, ({ trace, spans }) => ({ trace: { ...trace, [field]: value }, spans }));

const span = (name: string, field: string, value: unknown, error: RegExp): MalformedTrace =>
  rejected(name, error, ({ trace, spans }) => ({
    trace,
    spans: [spans[0], { ...spans[1], [field]: value }],
  }));

/** An item with changed JSON text, for numbers and texts that no value can represent. */
const written = (name: string, from: string, to: string, error: RegExp): MalformedTrace =>
  rejected(name, error, (item) => JSON.stringify(item).replace(from, () => to));

export function malformedTraces(): readonly MalformedTrace[] {
  return [
    rejected('null in place of an item', /^must be an object, not null$/, () => 'null'),
    rejected('a text in place of an item', /^must be an object, not a string$/, () => '"trace"'),
    rejected('a list in place of an item', /^must be an object, not an array$/, () => '[]'),
    rejected('an empty item', /^\/trace: is required \(and 1 more problem\)$/, () => '{}'),
    rejected(
      'a trace behind __proto__',
      /^\/trace: is required/,
      (item) => `{"__proto__":${JSON.stringify(item)}}`,
    ),
    rejected('spans that are missing', /^\/spans: is required$/, ({ trace }) => ({ trace })),
    rejected('spans that are null', /^\/spans: must be an array, not null$/, ({ trace }) => ({
      trace,
      spans: null,
    })),
    rejected('spans that are an object', /^\/spans: must be an array/, ({ trace }) => ({ trace, spans: {} })),
    rejected('a span that is null', /^\/spans\/0: must be an object, not null$/, ({ trace }) => ({
      trace,
      spans: [null],
    })),
    rejected('an empty span', /^\/spans\/0\/span_id: is required \(and 4 more/, ({ trace }) => ({
      trace,
      spans: [{}],
    })),
    header('a trace id that is missing', 'trace_id', undefined, /^\/trace\/trace_id: is required/),
    header('a trace id that is null', 'trace_id', null, /^\/trace\/trace_id: must be a string, not null/),
    header('a trace id that is a number', 'trace_id', 42, /^\/trace\/trace_id: must be a string/),
    header('a trace id that is short', 'trace_id', 'a287bb31', /^\/trace\/trace_id: must be a UUID/),
    header('a trace id without hyphens', 'trace_id', randomUUID().replaceAll('-', ''), /must be a UUID/),
    header('a trace id in braces', 'trace_id', `{${randomUUID()}}`, /must be a UUID/),
    header(
      'a trace id with a letter too far',
      'trace_id',
      'g287bb31-e317-4336-10d8-827617471140',
      /must be a UUID/,
    ),
    header('a trace id with a line break', 'trace_id', `${randomUUID()}\n`, /must be a UUID/),
    header('a trace id of a megabyte', 'trace_id', 'a'.repeat(1024 * 1024), /must be a UUID/),
    header('a trace id that is SQL', 'trace_id', "'; DROP TABLE spans; --", /must be a UUID/),
    header('an agent that is missing', 'agent', undefined, /^\/trace\/agent: is required$/),
    header(
      'an agent that is an object',
      'agent',
      { name: 'x' },
      /^\/trace\/agent: must be a string, not an object$/,
    ),
    header('an agent without a name', 'agent', '', /^\/trace\/agent: must not be empty$/),
    header('an agent of spaces', 'agent', ' \t\n', /^\/trace\/agent: must not be empty$/),
    header(
      'an agent with 1025 characters',
      'agent',
      'é'.repeat(1025),
      /^\/trace\/agent: must not be longer than 1024/,
    ),
    header(
      'an agent of 10 MB',
      'agent',
      'x'.repeat(10_000_000),
      /^\/trace\/agent: must not be longer than 1024/,
    ),
    header(
      'an agent with U+0000',
      'agent',
      'a\0b',
      /^\/trace\/agent: must not contain the character U\+0000$/,
    ),
    written(
      'an agent with half a surrogate pair',
      'researcher',
      'resear\\ud83d',
      /^\/trace\/agent: must not contain half/,
    ),
    header('an unknown status', 'status', 'done', /^\/trace\/status: must be one of running, completed/),
    header('a status in capitals', 'status', 'COMPLETED', /^\/trace\/status: must be one of/),
    header('a start that is missing', 'started_at', undefined, /^\/trace\/started_at: is required$/),
    header('a start in seconds', 'started_at', 1_778_000_000, /^\/trace\/started_at: must be a string/),
    header('a start without a time', 'started_at', '2026-11-03', /must be an ISO 8601 date-time/),
    header(
      'the zero time of Go',
      'started_at',
      '0001-01-01T00:00:00Z',
      /must be between July 1684 and June 2255, not "0001-01-01T00:00:00Z"$/,
    ),
    header('a start in words', 'started_at', 'yesterday', /not "yesterday"$/),
    header('a start in a 13th month', 'started_at', '2026-13-01T00:00:00Z', /ISO 8601/),
    header('a start on 29 February of no leap year', 'started_at', '2026-02-29T00:00:00Z', /ISO 8601/),
    header('a start at 25 o’clock', 'started_at', '2026-11-03T25:00:00Z', /ISO 8601/),
    header(
      'a start with ten digits of a second',
      'started_at',
      '2026-11-03T08:15:30.1234567890Z',
      /ISO 8601/,
    ),
    header('a start in the year 1', 'started_at', '0001-01-01T00:00:00Z', /between July 1684 and June 2255/),
    header('a start that is empty', 'started_at', '', /ISO 8601/),
    header(
      'an end before the start',
      'ended_at',
      '2026-11-03T08:15:30.249999Z',
      /^\/trace\/ended_at: must not be before/,
    ),
    header('an end that is a boolean', 'ended_at', true, /^\/trace\/ended_at: must be a string/),
    header('a duration in a text', 'duration_ms', '12', /^\/trace\/duration_ms: must be a number/),
    header('a duration below zero', 'duration_ms', -0.001, /^\/trace\/duration_ms: must not be negative$/),
    written('a duration beyond doubles', '"success":true', '"duration_ms":1e400', /too large for a number$/),
    written(
      'a duration beyond doubles below zero',
      '"success":true',
      '"duration_ms":-1e400',
      /too large for a number$/,
    ),
    header('a success in a text', 'success', 'yes', /^\/trace\/success: must be a boolean/),
    header('a success of 1', 'success', 1, /^\/trace\/success: must be a boolean/),
    header('an outcome that is a list', 'outcome', [], /^\/trace\/outcome: must be a string/),
    header('an outcome of 10 MB', 'outcome', 'x'.repeat(10_000_000), /^\/trace\/outcome: must not be longer/),
    written(
      'an error with half a surrogate pair',
      '"success":true',
      '"error_message":"\\udc00"',
      /^\/trace\/error_message: must not contain half/,
    ),
    header('tokens with a fraction', 'total_tokens', 1.5, /^\/trace\/total_tokens: must be a whole number$/),
    header('tokens below zero', 'total_tokens', -1, /^\/trace\/total_tokens: must not be negative$/),
    written(
      'tokens beyond exact numbers',
      '"success":true',
      '"total_tokens":9007199254740993',
      /must not be greater/,
    ),
    header('a cost in words', 'total_cost_usd', 'free', /^\/trace\/total_cost_usd: must be an amount/),
    header('a cost below zero', 'total_cost_usd', '-0.01', /^\/trace\/total_cost_usd: must not be negative$/),
    header(
      'a cost of a billion',
      'total_cost_usd',
      '1000000000',
      /^\/trace\/total_cost_usd: must be an amount/,
    ),
    header('a cost with a comma', 'total_cost_usd', '0,5', /^\/trace\/total_cost_usd: must be an amount/),
    header('a cost with a blank', 'total_cost_usd', ' 0.5', /^\/trace\/total_cost_usd: must be an amount/),
    header('a cost with a sign', 'total_cost_usd', '+1.', /^\/trace\/total_cost_usd: must be an amount/),
    header('a cost of NaN', 'total_cost_usd', 'NaN', /^\/trace\/total_cost_usd: must be an amount/),
    header(
      'metadata that is a list',
      'metadata',
      [1],
      /^\/trace\/metadata: must be an object, not an array$/,
    ),
    header('metadata that is JSON in a text', 'metadata', '{}', /^\/trace\/metadata: must be an object/),
    written(
      'metadata of 65 levels',
      '{"environment":"test"}',
      nestedText(65),
      /^\/trace\/metadata: must not nest deeper than 64/,
    ),
    written(
      'metadata of 900 levels',
      '{"environment":"test"}',
      nestedText(900),
      /must not nest deeper than 64/,
    ),
    written(
      'metadata with a number beyond doubles',
      '"test"',
      '[1e999]',
      /^\/trace\/metadata: must not contain a number too large/,
    ),
    written(
      'metadata with half a surrogate pair',
      '"test"',
      '"\\ud800 "',
      /^\/trace\/metadata: must not contain half/,
    ),
    written(
      'metadata with half a pair in a key',
      '"environment"',
      '"\\udfff"',
      /^\/trace\/metadata: must not contain half/,
    ),
    span('a span id that is missing', 'span_id', undefined, /^\/spans\/1\/span_id: is required$/),
    span(
      'a span id that is no UUID',
      'span_id',
      'span-1',
      /^\/spans\/1\/span_id: must be a UUID, not "span-1"$/,
    ),
    rejected(
      'a span id that is there twice',
      /^\/spans\/1\/span_id: occurs twice in this trace$/,
      ({ trace, spans }) => ({
        trace,
        spans: [spans[0], spans[0]],
      }),
    ),
    span(
      'a trace id of another trace',
      'trace_id',
      randomUUID(),
      /^\/spans\/1\/trace_id: must be the trace_id/,
    ),
    span('a parent that is no UUID', 'parent_span_id', 'root', /^\/spans\/1\/parent_span_id: must be a UUID/),
    span('a type that is missing', 'type', undefined, /^\/spans\/1\/type: is required$/),
    span('an unknown type', 'type', 'function', /^\/spans\/1\/type: must be one of agent, llm/),
    span('a name that is null', 'name', null, /^\/spans\/1\/name: must be a string, not null$/),
    span(
      'a name of 10 MB',
      'name',
      'x'.repeat(10_000_000),
      /^\/spans\/1\/name: must not be longer than 1024/,
    ),
    span(
      'an end before the start of a span',
      'ended_at',
      '2020-01-01T00:00:00Z',
      /^\/spans\/1\/ended_at: must not/,
    ),
    span('a model that is a list', 'model', ['a'], /^\/spans\/1\/model: must be a string/),
    span('a model of 1025 characters', 'model', 'm'.repeat(1025), /^\/spans\/1\/model: must not be longer/),
    span(
      'input tokens in a text',
      'input_tokens',
      '100',
      /^\/spans\/1\/input_tokens: must be a whole number/,
    ),
    span(
      'output tokens below zero',
      'output_tokens',
      -5,
      /^\/spans\/1\/output_tokens: must not be negative$/,
    ),
    span('a cost that is an object', 'cost_usd', {}, /^\/spans\/1\/cost_usd: must be a string or a number/),
    span('input that is a text', 'input_data', 'prompt', /^\/spans\/1\/input_data: must be an object/),
    span('output that is a list', 'output_data', [], /^\/spans\/1\/output_data: must be an object/),
  ];
}
