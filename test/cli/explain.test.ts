import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { ExplainedRun } from '../../src/cli/explain/explained.js';
import { toKeyValues } from '../../src/otlp/encode/value.js';
import type { Span } from '../../src/otlp/wire/requests.js';
import type { JsonObject } from '../../src/signal/attributes.js';
import { runInProcess } from '../support/cli.js';
import { runCli } from '../support/process.js';
import { aSpan, jsonOf, ONE_ITEM, protobufOf, START, tracesOf } from '../support/otlp-requests.js';

const TRACE = '01010101-0101-0101-0101-010101010101';

/** A span of trace 1 that starts that many milliseconds after the first. */
function span(number: number, name: string, attributes: JsonObject, more: Partial<Span> = {}): Span {
  const at = (ms: number): string => `${BigInt(START) + BigInt(ms) * 1_000_000n}`;
  return aSpan(number, {
    traceId: Buffer.alloc(16, 1),
    name,
    startTimeUnixNano: at(number),
    endTimeUnixNano: at(number + 250),
    attributes: toKeyValues(attributes),
    ...more,
  });
}

const BELOW_1 = { parentSpanId: Buffer.alloc(8, 1) };
const REQUEST = tracesOf(
  span(
    1,
    'weather.run',
    {
      'openinference.span.kind': 'AGENT',
      'session.id': 's-1',
      'input.value': 'Is it warm in Berlin?',
      'my.own': 1,
    },
    { parentSpanId: null },
  ),
  span(
    2,
    'ChatCompletion',
    {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'gpt-4o-mini',
      'llm.token_count.prompt': 120,
      'llm.token_count.completion': 45,
      'llm.token_count.prompt_details.cache_read': 64,
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': 'Is it warm in Berlin?',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'get_weather',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"city":"Berlin"}',
    },
    BELOW_1,
  ),
  span(
    3,
    'SimpleTool',
    {
      'openinference.span.kind': 'TOOL',
      'tool.name': 'get_weather',
      'input.value': '{"city":"Berlin"}',
      'output.value': 'sunny',
    },
    { ...BELOW_1, status: { code: 2, message: 'no such city' } },
  ),
);

interface Explained {
  readonly items: JsonObject;
  readonly rejections: readonly string[];
  readonly runs: readonly ExplainedRun[];
}

async function explained(input: Uint8Array | string, ...args: readonly string[]): Promise<Explained> {
  const { code, stdout, stderr } = await runInProcess(['explain', '--json', ...args], {}, [input]);
  if (code !== 0) throw new Error(`${code}: ${stderr}`);
  return JSON.parse(stdout) as Explained;
}

void t.test('shows a run as a tree with the source of each value', async (t) => {
  const { code, stdout, stderr } = await runInProcess(['explain'], {}, [jsonOf(REQUEST)]);
  t.equal(code, 0);
  t.equal(stderr, '');
  t.equal(
    stdout.replace(/prices\.yaml:\d+ .*/, 'the entry'),
    `1 run of 3 spans; 0 log records, 0 metric points

weather · completed · ${TRACE}
  agent    weather                           ← name of the span, of "weather.run"
  kind     agent                             ← it has an agent, a model call or a tool call, of "weather.run"
  status   completed                         ← code of the status, of "weather.run"
  session  s-1                               ← session.id, of "weather.run"
  time     2026-01-15T12:00:00.001Z, 252 ms  ← earliest start, of "weather.run"
  tokens   165                               ← sum of its spans, calls counted once
  cost     $0.0000402                        ← sum of its spans, calls counted once
  spans    3
  map      weather

  agent weather.run · 250 ms
  │    type     agent                  ← openinference.span.kind
  │    agent    weather                ← name of the span
  │    session  s-1                    ← session.id
  │    input    Is it warm in Berlin?  ← input.value
  ├─ llm ChatCompletion · 250 ms
  │       type     llm                                          ← openinference.span.kind
  │       model    gpt-4o-mini                                  ← llm.model_name
  │       tokens   120 in, 45 out, 165 total                    ← llm.token_count.prompt, .completion
  │       parts    cached_read 64                               ← llm.token_count.prompt_details.cache_read
  │       cost     $0.0000402                                   ← processor cost, by the entry
  │       input    user: Is it warm in Berlin?                  ← llm.input_messages.*
  │       output   assistant: → get_weather({"city":"Berlin"})  ← llm.output_messages.*
  └─ tool get_weather · failed · 250 ms
          type     tool               ← openinference.span.kind
          name     get_weather        ← tool.name
          status   failed             ← code of the status
          error    no such city       ← message of the status
          input    {"city":"Berlin"}  ← input.value
          output   sunny              ← output.value
`,
  );
});

void t.test('names the source of the success and outcome of a run', async (t) => {
  const evaluation = {
    'gen_ai.evaluation.name': 'success',
    'gen_ai.evaluation.score.value': 1,
    'gen_ai.evaluation.score.label': 'good',
  };
  const event = { name: 'gen_ai.evaluation.result', attributes: toKeyValues(evaluation) };
  const sourcesOf = async (attributes: JsonObject, more: Partial<Span> = {}) => {
    const root = span(1, 'weather.run', attributes, { parentSpanId: null, ...more });
    const [run] = (await explained(jsonOf(tracesOf(root)))).runs;
    return [run?.success, run?.from.success?.source, run?.outcome, run?.from.outcome?.source];
  };
  t.strictSame(await sourcesOf({ success: 'no', outcome: 'wrong city' }), [
    false,
    'success',
    'wrong city',
    'outcome',
  ]);
  t.strictSame(await sourcesOf(evaluation), [
    true,
    'gen_ai.evaluation.score.value',
    'good',
    'gen_ai.evaluation.score.label',
  ]);
  const found = 'event gen_ai.evaluation.result';
  t.strictSame(await sourcesOf({}, { events: [event] }), [true, found, 'good', found]);
  t.strictSame(await sourcesOf({ outcome: 'fine' }, { events: [event] }), [true, found, 'fine', 'outcome']);
  t.strictSame(await sourcesOf({}), [null, undefined, null, undefined]);
});

void t.test('shows a span with whole payloads and unused attributes', async (t) => {
  for (const id of ['01010101-0101-0101-0101-010101010101', '0101010101010101']) {
    const { code, stdout } = await runInProcess(['explain', '-', '--span', id], {}, [jsonOf(REQUEST)]);
    t.equal(code, 0);
    t.match(stdout, /^\nagent weather\.run · completed · 01010101-0101-0101-0101-010101010101\n/);
    t.match(stdout, /\n {2}input_data\n {4}\{\n {4} {2}"value": "Is it warm in Berlin\?"\n {4}\}\n/);
    t.match(stdout, /\n {2}unused attributes\n {4}my\.own\n$/);
    t.notMatch(stdout, /ChatCompletion/);
  }
});

void t.test('JSON has the API field names with their sources', async (t) => {
  const { items, runs } = await explained(jsonOf(REQUEST));
  t.same(items, { traces: 3, metrics: 0, logs: 0 });
  const [run] = runs;
  t.match(run, {
    trace_id: TRACE,
    agent_name: 'weather',
    status: 'completed',
    total_tokens: 165,
    total_cost_usd: 0.0000402,
    session_id: 's-1',
    from: { agent_name: { span_id: TRACE, source: 'name of the span' } },
  });
  t.match(run?.spans[1], {
    depth: 1,
    type: 'llm',
    usage: { cached_read: 64 },
    output_data: { messages: [{ tool_calls: [{ name: 'get_weather', arguments: { city: 'Berlin' } }] }] },
    from: { type: 'openinference.span.kind', input_data: 'llm.input_messages.*', cached_read: /cache_read$/ },
    unread: [],
  });
  t.same(run?.spans[0]?.unread, ['my.own']);
});

void t.test('reads every format of recordings', async (t) => {
  const { runs } = await explained(jsonOf(REQUEST));
  const bytes = protobufOf('traces', REQUEST);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  const forms: Readonly<Record<string, Uint8Array | string>> = {
    'over several lines': JSON.stringify(JSON.parse(jsonOf(REQUEST)), null, 2),
    'a line, and an empty request': `${jsonOf(REQUEST)}\n\n{}\n`,
    'a list': `[${jsonOf(REQUEST)}]`,
    'with a byte order mark': `\uFEFF${jsonOf(REQUEST)}`,
    gzip: gzipSync(jsonOf(REQUEST)),
    protobuf: bytes,
    'protobuf in gzip': gzipSync(bytes),
    'protobuf with lengths': Buffer.concat([length, bytes, Buffer.alloc(4)]),
  };
  for (const [name, form] of Object.entries(forms)) t.same((await explained(form)).runs, runs, name);
});

void t.test('spans sent in parts, twice or unfinished form one run', async (t) => {
  const { runs } = await explained(jsonOf(REQUEST));
  const spans = REQUEST.resourceSpans?.[0]?.scopeSpans?.[0]?.spans ?? [];
  const begun = spans.map((each) => jsonOf(tracesOf({ ...each, endTimeUnixNano: 0, status: null })));
  const lines = [...begun, ...spans.map((each) => jsonOf(tracesOf(each))), jsonOf(REQUEST)];
  const folder = t.testdir({ 'a.jsonl': lines.slice(0, 4).join('\n'), 'b.jsonl': lines.slice(4).join('\n') });
  const found = await explained('', join(folder, 'a.jsonl'), join(folder, 'b.jsonl'));
  t.same(found.runs, runs);
});

void t.test('counts log records and metrics in the same input by signal and run', async (t) => {
  const bytes = ['traces', 'logs', 'metrics'] as const;
  const forms = [
    bytes.map((signal) => jsonOf(ONE_ITEM[signal])).join('\n'),
    JSON.stringify(
      Object.assign({}, ...bytes.map((signal) => JSON.parse(jsonOf(ONE_ITEM[signal])) as object)),
    ),
  ];
  for (const form of forms) t.match(await explained(form), { items: { traces: 1, logs: 1, metrics: 1 } });
  for (const signal of bytes)
    t.same(
      (await explained(protobufOf(signal, ONE_ITEM[signal]))).items,
      { traces: 0, logs: 0, metrics: 0, [signal]: 1 },
      `${signal} in protobuf`,
    );
});

void t.test('uses agent names and prices of the configuration', async (t) => {
  const folder = t.testdir({
    'prices.yaml': 'date: "2026-01-01"\nmodels: [{ match: ["gpt-4o-mini"], input: 1000, output: 0 }]\n',
  });
  const config = join(folder, 'jackdaw.yaml');
  writeFileSync(
    config,
    `receivers: { otlp: { agent_names: { generic: [weather] } } }\nprocessors: { cost: { prices: ${folder}/prices.yaml } }\n`,
  );
  const { runs } = await explained(jsonOf(REQUEST), '--config', config);
  t.match(runs, [{ agent_name: 'weather.run', total_cost_usd: 0.12 }]);
});

void t.test('reports refused items and shows the rest', async (t) => {
  const bad = { ...aSpan(2), spanId: Buffer.alloc(8) };
  const text = jsonOf(tracesOf(span(1, 'good', {}, { parentSpanId: null }), bad));
  const { code, stdout, stderr } = await runInProcess(['explain'], {}, [text]);
  t.equal(code, 0);
  t.match(stdout, /^1 run of 1 span;/);
  t.match(
    stderr,
    /^rejected: 1 of traces: \/resourceSpans\/0\/scopeSpans\/0\/spans\/1\/spanId: must be 8 bytes/,
  );
});

void t.test('a call reported by two instrumentations counts once', async (t) => {
  const call = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-5-mini',
    'gen_ai.usage.input_tokens': 9,
  };
  const scopeSpans = ['one', 'other'].map((name, i) => ({
    scope: { name },
    spans: [span(2 + i, name, call, BELOW_1)],
  }));
  const text = jsonOf({ resourceSpans: [{ scopeSpans }] });
  const { runs } = await explained(text);
  const [first, second] = runs[0]?.spans ?? [];
  t.match(first, { name: 'one', counted: false, same_as: second?.span_id });
  t.notOk('counted' in (second ?? {}));
  t.equal(runs[0]?.total_tokens, 9);
  const { stdout } = await runInProcess(['explain'], {}, [text]);
  t.match(stdout, `counted  by ${second?.span_id}, which reports the same call`);
});

void t.test('unreadable and missing files are errors', async (t) => {
  const folder = t.testdir({ 'empty.json': ' \n', 'other.json': '{"spans":[]}' });
  const fails = async (
    code: number,
    stderr: RegExp,
    args: readonly string[],
    input: string | Buffer = '',
  ): Promise<void> => {
    t.match(await runInProcess(['explain', ...args], {}, [input]), { code, stdout: '', stderr });
  };
  await fails(1, /^jackdaw: \/nowhere\/x\.json cannot be read: ENOENT/, ['/nowhere/x.json']);
  await fails(1, /cannot be read: EISDIR/, [folder]);
  await fails(1, /empty\.json is empty\n$/, [join(folder, 'empty.json')]);
  await fails(
    1,
    /other\.json is not OTLP\/JSON: it has none of resourceSpans, resourceMetrics, resourceLogs\n$/,
    [join(folder, 'other.json')],
  );
  await fails(1, /^jackdaw: standard input is not JSON: /, [], '{"resourceSpans": [');
  await fails(1, /^jackdaw: standard input cannot be read in line 3: it is not JSON: /, [], '{}\n\n{"a\n');
  await fails(
    1,
    /standard input is not OTLP\/JSON: \/resourceSpans must be a list/,
    ['-'],
    '{"resourceSpans":1}',
  );
  await fails(1, /is neither OTLP\/JSON nor an OTLP request in protobuf/, [], 'trace_id,span_id\n');
  await fails(1, /cannot be decompressed/, [], Buffer.from([0x1f, 0x8b, 8]));
  await fails(1, /^jackdaw: the input has no run 0202/, ['--run', '02'.repeat(16)], jsonOf(REQUEST));
  await fails(1, /^jackdaw: the input has no span 0909/, ['--span', '09'.repeat(8)], jsonOf(REQUEST));
  await fails(2, /--run <id>.*invalid.*32 hexadecimal digits/, ['--run', 'x']);
  await fails(2, /--span <id>.*invalid.*16 hexadecimal digits/, ['--span', 'x']);
  await fails(78, /cannot be read/, ['--config', '/nowhere/x.yaml']);
  const config = join(t.testdir(), 'x.yaml');
  writeFileSync(
    config,
    'receivers: { trace_batch: {} }\nexporters: { debug: {} }\nservice: { pipelines: { traces: { receivers: [trace_batch], exporters: [debug] } } }\n',
  );
  await fails(2, /has no pipeline of traces with a receiver otlp/, ['--config', config]);
});

void t.test('writes long output to a pipe completely', async (t) => {
  const spans = Array.from({ length: 250 }, (_, i) =>
    span(i + 1, `step ${i}`, { 'input.value': 'x'.repeat(1000) }, i === 0 ? { parentSpanId: null } : BELOW_1),
  );
  const folder = t.testdir({ 'long.json': jsonOf(tracesOf(...spans)) });
  const { code, stdout } = await runCli(['explain', '--json', join(folder, 'long.json')]);
  t.equal(code, 0);
  t.equal((JSON.parse(stdout) as Explained).runs[0]?.spans.length, 250);
});
