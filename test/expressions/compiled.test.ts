import t from 'tap';
import { compile, compileCondition } from '../../src/expressions/expression.js';
import { ExpressionError } from '../../src/expressions/expression-error.js';
import {
  identityView,
  logScope,
  spanScope,
  traceScope,
  traceView,
} from '../../src/expressions/scope/scopes.js';
import { toKeyValues } from '../../src/otlp/encode/value.js';
import { isUnseen } from '../../src/signal/sent-span.js';
import type { SpanRecord } from '../../src/signal/span.js';
import { aLog } from '../support/log-records.js';
import { mapSpan, mapSpans } from '../support/mapped-span.js';
import { aSpan as anOtlpSpan } from '../support/otlp-requests.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';

const identity = identityView({ tenant: 'a-user', items: [] }, { receivedAt: 0, keyId: 'a-key' });
const TRACE = aHeader();

/** The value of an expression on a span. */
function ofSpan(source: string, span: SpanRecord): unknown {
  const trace = traceView({ trace: TRACE, spans: [span] });
  return compile(source, 'span').evaluate(spanScope(span, trace, identity));
}

/** Expressions on a span with their values. */
const VALUES: readonly [source: string, value: unknown][] = [
  ['span.type == "tool" && span.name.startsWith("search")', true],
  ['span.duration_ms > 500', true],
  ['span.duration_ms > 500.0', true],
  ['span.input_tokens + 1', 8n],
  ['span.cost_usd > 0.001', true],
  ['span.started_at == timestamp("2026-01-15T12:00:00Z")', true],
  ['span.ended_at > span.started_at', false],
  ['span.model', ''],
  ['has(span.model)', false],
  ['has(span.duration_ms)', true],
  ['has(span.name)', true],
  ['span.output_tokens', 0n],
  ['has(span.output_tokens)', false],
  ['span.metadata.team + ": " + span.name', 'ours: search the web'],
  ['has(span.metadata.team)', true],
  ['has(span.metadata.nobody)', false],
  ['has(span.metadata.nobody.there)', false],
  ['has(span.metadata.team.there)', false],
  ['span.metadata["http.route"] == "/x"', true],
  ['"http.route" in span.metadata', true],
  ['span.metadata.count > 3', true],
  ['span.metadata.count > 3.5', true],
  ['span.metadata.nothing == null', true],
  ['span.input_data', {}],
  ['has(span.input_data)', false],
  ['span.tags', []],
  ['trace.agent', 'researcher'],
  ['trace.spans.exists(s, s.type == "tool" && s.status == "completed")', true],
  ['trace.spans.exists(s, has(s.model))', false],
  ['trace.spans.all(s, s.duration_ms > 1000.0)', false],
  ['trace.total_tokens', 7n],
  ['trace.total_cost_usd > 0.001', true],
  ['size(trace.spans)', 1n],
  ['identity.user_id + identity.key_id', 'a-usera-key'],
  ['resource', {}],
  ['span.name.matches("^search .*web$")', true],
  ['span.name.matches("has(x)")', false],
  ['"has(span.model) matches(" + span.name', 'has(span.model) matches(search the web'],
  [' has ( span.name )', true],
];

void t.test('expressions read record fields, and missing ones are empty', async (t) => {
  const span = aSpanRecord(TRACE.trace_id, {
    type: 'tool',
    name: 'search the web',
    duration_ms: 512.5,
    input_tokens: 7,
    cost_usd: 2_000_000,
    metadata: { team: 'ours', 'http.route': '/x', count: 4, nothing: null },
  });
  for (const [source, value] of VALUES) t.strictSame(ofSpan(source, span), value, source);
});

void t.test('field constants match in any case', (t) => {
  const log = aLog({ severity: 'debug' });
  const holds = (source: string) => compileCondition(source, 'log').evaluate(logScope(log, identity));
  for (const [source, expected] of [
    ['log.severity == "DEBUG"', true],
    ["r'Debug' == log.severity", true],
    ['log.severity in ["ERROR", "DEBUG"] && log.body == "DEBUG"', false],
    ['log.severity != """DEBUG"""', false],
  ] as const)
    t.equal(holds(source), expected, source);
  t.end();
});

void t.test('a log record has a resource and any value as body', async (t) => {
  const log = aLog({ body: { text: 'x', size: 9_007_199_254_740_993n }, severity: 'warn' });
  const of = (source: string) => compile(source, 'log').evaluate(logScope(log, identity));
  t.equal(of('log.severity == "warn" && log.body.text == "x"'), true);
  t.equal(of('log.body.size'), 9_007_199_254_740_993n);
  t.equal(of('resource["service.name"]'), 'checkout');
  t.equal(of('log.service_name'), 'checkout');
  t.equal(of('has(log.trace_id)'), false);
  t.equal(of('log.timestamp.getFullYear()'), 2026n);
  t.equal(of('log.timestamp == timestamp("2026-01-15T12:00:00Z")'), true);
  t.equal(log.timestamp, NOON);
});

void t.test('raw spans are decoded only for expressions that use them, and not cached', async (t) => {
  const span = mapSpan({ 'http.route': '/x', 'service.name': 'of the span' });
  t.equal(ofSpan('span.name == "span 1" && has(span.metadata)', span), true);
  t.equal(ofSpan('span.metadata["http.route"]', span), '/x');
  t.equal(ofSpan('"service.name" in resource', span), false);
  t.ok(isUnseen(span), 'still the raw span');
});

void t.test('a pattern takes linear time in the text length', async (t) => {
  const span = aSpanRecord(TRACE.trace_id, { name: `${'a'.repeat(50_000)}!` });
  // A backtracking engine would never finish this pattern.
  t.equal(ofSpan('span.name.matches("^(a+)+$")', span), false);
});

/** Invalid expressions and their errors. */
const PROBLEMS: readonly [scope: 'span' | 'trace' | 'log', source: string, message: string][] = [
  ['span', 'span.typ == "x"', 'span has no field "typ"; did you mean "type"? (column 6 of the expression)'],
  [
    'span',
    'has(span.modell)',
    'span has no field "modell"; did you mean "model"? (column 10 of the expression)',
  ],
  [
    'span',
    'trace.spans.exists(s, has(s.modell))',
    'there is no field "modell" (column 29 of the expression)',
  ],
  [
    'span',
    'sapn.name == ""',
    'there is no variable "sapn"; did you mean "span"? (column 1 of the expression)',
  ],
  [
    'trace',
    'span.name == ""',
    'there is no variable "span"; known here: "identity", "resource", "trace" (column 1 of the expression)',
  ],
  [
    'span',
    'span.name == 5',
    'no such overload: string == int; write strings in quotes (column 1 of the expression)',
  ],
  [
    'trace',
    'trace.duration_ms > "5s"',
    'no such overload: double > string; write numbers without quotes (column 1 of the expression)',
  ],
  [
    'span',
    'span.input_tokens > size(span.name) + span.name',
    'no such overload: int + string; string() converts a number to a string (column 21 of the expression)',
  ],
  [
    'span',
    'span.input_tokens == span.name',
    'no such overload: int == string; string() converts a number to a string, double() a string to a number (column 1 of the expression)',
  ],
  [
    'span',
    'span.input_tokens / 2.0 > 1.0',
    'no such overload: int / double; convert both to one type with double() or int() (column 1 of the expression)',
  ],
  [
    'span',
    'span.started_at > "2026-01-01"',
    'no such overload: Timestamp > string; write a time as timestamp("2026-01-31T12:00:00Z") (column 1 of the expression)',
  ],
  [
    'span',
    'span.tags == "a"',
    'no such overload: list<string> == string; what is in a list, "in" tells: "a" in span.tags (column 1 of the expression)',
  ],
  [
    'span',
    '"a" in span.name',
    'no such overload: string in string; to test for a substring, use a.contains("b") (column 1 of the expression)',
  ],
  [
    'span',
    '!span.name',
    'no such overload: !string; ! needs true or false: use a comparison or has() (column 1 of the expression)',
  ],
  [
    'span',
    'true ? 1 : "a"',
    "Ternary branches must have the same type, got 'int' and 'string'; wrap one in dyn() to allow different types (column 1 of the expression)",
  ],
  [
    'span',
    'nothing(span.name)',
    'found no matching overload for \'nothing(string)\'; there is no function "nothing" (column 1 of the expression)',
  ],
  [
    'span',
    'span.started_at > timestamp("2026-01-01")',
    'timestamp() cannot read "2026-01-01"; write a time such as timestamp("2026-01-31T12:00:00Z") (column 29 of the expression)',
  ],
  [
    'span',
    'span.model == null',
    'no such overload: string == null; to test whether a field has a value, use has(span.model) (column 1 of the expression)',
  ],
  ['span', 'span.name == ', 'a value is missing at the end (column 14 of the expression)'],
  ['span', 'span.name = "x"', '"=" is not known here; equal is == (column 11 of the expression)'],
  ['span', 'true & true', '"&" is not known here; and is && (column 6 of the expression)'],
  ['span', 'true and true', '"and" is not known here; and is && (column 6 of the expression)'],
  ['span', 'span.name == “x”', '"“" is not known here; write strings as "…" (column 14 of the expression)'],
  [
    'span',
    'span.name == "x" "y"',
    'an operator such as && is missing before "y" (column 18 of the expression)',
  ],
  ['span', '$x', '"$" is not allowed here (column 1 of the expression)'],
  ['span', ' && true', 'a value is missing before "&&" (column 2 of the expression)'],
  ['span', '(span.name == "x"', '")" is missing at the end (column 18 of the expression)'],
  ['span', 'span.name == "x")', '")" closes nothing (column 17 of the expression)'],
  ['span', 'span. == "x"', 'a name is missing before "==" (column 7 of the expression)'],
  ['span', 'span.name == "x', 'a string has no closing quote (column 14 of the expression)'],
  ['span', 'span.name', 'a condition must be true or false, not a string (column 1 of the expression)'],
  [
    'span',
    'true &&\n  span.name.startWith("a")',
    'found no matching overload for \'string.startWith(string)\'; did you mean "startsWith"? (line 2, column 3 of the expression)',
  ],
  [
    'span',
    'span.name.startsWith(1)',
    "found no matching overload for 'string.startsWith(int)'; it is called as string.startsWith(string): bool (column 1 of the expression)",
  ],
  [
    'log',
    'log.severity == "DEBG"',
    'the severity of a log is never "DEBG"; did you mean "debug"? (column 17 of the expression)',
  ],
  [
    'span',
    'span.type in ["llm", "tol"]',
    'the type of a span is never "tol"; did you mean "tool"? (column 22 of the expression)',
  ],
  ['span', 'span.name.matches(span.model)', 'matches() needs a literal pattern (column 1 of the expression)'],
  [
    'span',
    'span.name.matches("a(")',
    'not a valid RE2 pattern: error parsing regexp: missing closing ): `a(` (column 19 of the expression)',
  ],
  ['span', 'has(span)', 'has() needs a field, such as has(span.metadata.team) (column 5 of the expression)'],
];

void t.test('errors name the position and the remedy', async (t) => {
  for (const [scope, source, message] of PROBLEMS) {
    t.throws(() => compileCondition(source, scope), new ExpressionErrorOf(message), source);
  }
});

void t.test('rejects deeply nested expressions', async (t) => {
  const deep = `${'('.repeat(100)}true${')'.repeat(100)}`;
  t.throws(() => compileCondition(deep, 'span'), ExpressionError);
});

void t.test('a trace exposes the spans of its request', async (t) => {
  const spans = [
    aSpanRecord(TRACE.trace_id, { status: 'failed', cost_usd: 300_000_000 }),
    aSpanRecord(TRACE.trace_id, { cost_usd: 300_000_000, output_tokens: 2, input_tokens: 3 }),
  ];
  const scope = traceScope(traceView({ trace: TRACE, spans }), identity);
  const of = (source: string) => compile(source, 'trace').evaluate(scope);
  t.equal(of('trace.total_cost_usd > 0.5'), true);
  t.equal(of('trace.total_tokens'), 5n);
  t.equal(of('trace.spans.exists_one(s, s.status == "failed")'), true);
  t.equal(of('trace.spans.map(s, s.total_tokens).size()'), 2n);
});

void t.test('a span exposes kind, attributes and resource as sent in OTLP', (t) => {
  const server = mapSpan({ 'http.request.method': 'GET', 'http.route': '/x', scope: 'mine' }, { kind: 2 });
  t.equal(ofSpan('span.kind == "SERVER" && span.attributes["http.route"] == "/x"', server), true);
  t.equal(ofSpan('span.kind', server), 'server');
  t.equal(isUnseen(server), true, 'nothing cached on the record');
  t.strictSame(ofSpan('span.attributes', server), {
    'http.request.method': 'GET',
    'http.route': '/x',
    scope: 'mine',
  });
  if (server.metadata !== null) server.metadata['http.route'] = '/y';
  t.equal(ofSpan('span.attributes["http.route"]', server), '/y', 'the changed value');
  t.equal(ofSpan('span.attributes["scope"]', server), 'mine', 'an attribute named like a mapped field');
  t.equal(ofSpan('"otel" in span.attributes || "resource" in span.attributes', server), false);
  t.equal(ofSpan('span.kind', server), 'server');
  for (const [kind, word] of [
    [0, 'unspecified'],
    [1, 'internal'],
    [3, 'client'],
    [4, 'producer'],
    [5, 'consumer'],
    [77, 'unspecified'],
  ] as const)
    t.equal(ofSpan('span.kind', mapSpan({}, { kind })), word);
  const declared = aSpanRecord(TRACE.trace_id, { metadata: { 'url.path': '/x' } });
  t.equal(ofSpan('span.kind', declared), 'unspecified');
  t.equal(ofSpan('span.attributes["url.path"]', declared), '/x');
  t.throws(() => compileCondition('span.kind == "servr"', 'span'), /kind of a span is never "servr"/);
  t.end();
});

void t.test('a condition on traces uses the resource of the root span', (t) => {
  const { batch } = mapSpans({
    resourceSpans: [
      {
        resource: { attributes: toKeyValues({ 'service.name': 'shop' }) },
        scopeSpans: [{ spans: [anOtlpSpan(1)] }],
      },
    ],
  });
  const [item] = batch.items;
  if (item === undefined) throw new Error('no run');
  const of = (spans: readonly SpanRecord[]) =>
    compile('resource', 'trace').evaluate(traceScope(traceView({ ...item, spans: [...spans] }), identity));
  t.strictSame(of(item.spans), { 'service.name': 'shop' });
  t.strictSame(of([]), {}, 'a header without spans has none');
  t.end();
});

/** For `throws`, which then compares only the message. */
class ExpressionErrorOf {
  readonly name = 'ExpressionError';
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}
