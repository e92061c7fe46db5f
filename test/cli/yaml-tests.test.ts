import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import { runInProcess } from '../support/cli.js';
import { projectFolder, readProjectFile } from '../support/project-file.js';

const MASKED = 'Bearer a-secret-written-out';

/** Runs `jackdaw test` on a file with this text. */
async function runText(t: Test, text: string, ...options: readonly string[]) {
  const folder = t.testdir({});
  writeFileSync(join(folder, 'a.test.yaml'), text);
  const { code, stdout, stderr } = await runInProcess(['test', folder, ...options]);
  const shorten = (output: string) => output.replaceAll(folder, '.');
  return { code, out: shorten(stdout), err: shorten(stderr) };
}

void t.test('passing tests', async (t) => {
  const { code, out } = await runText(
    t,
    `
env: { NAME: smoke }
now: 2026-03-01T00:00:00Z
processors:
  filter: { traces: ['trace.agent == "\${env:NAME}"'], events: ['event.type == "webhook.test"'] }
tests:
  - name: drops and passes
    processors: [filter]
    identity: { user_id: 00000000-0000-4000-8000-0000000000aa }
    input:
      traces: [{ agent: smoke }, { agent: other, metadata: { a: [1, { b: null }] } }]
      events: [{ type: webhook.test }, { type: agent.created, data: { name: x } }]
      metrics: [{ name: m, type: sum, value: 3, attributes: { code: 200 } }]
    expect:
      traces: [{ agent: /^oth/, outcome: null, started_at: 2026-03-01T01:00:00+01:00, metadata: { a: [1, {}] } }]
      events: [{ type: agent.created, data: { name: x } }]
      metrics: [{ name: m, labels: { code: '200' }, temporality: cumulative }]
      dropped: { traces: 1, events: 1 }
  - name: what OTLP brings
    pipeline: traces
    input:
      otlp:
        - resourceSpans:
            - resource: { attributes: [{ key: service.name, value: { stringValue: shop } }] }
              scopeSpans:
                - spans:
                    - traceId: 0102030405060708090a0b0c0d0e0f10
                      spanId: '0102030405060708'
                      name: GET /
                      startTimeUnixNano: '1772323200000000000'
                      endTimeUnixNano: '1772323200005000000'
    expect:
      traces: [{ spans: [{ name: GET /, resource: { service.name: shop }, duration_ms: 5 }] }]
`,
  );
  t.equal(
    out,
    './a.test.yaml\n  ✓ drops and passes\n  ✓ what OTLP brings\n2 tests in 1 file: 2 passed, 0 failed\n',
  );
  t.equal(code, 0);
});

void t.test('differences name their position in the file', async (t) => {
  const { code, out } = await runText(
    t,
    `processors: { filter: { spans: ['span.name == "x"'] } }
tests:
  - name: wrong
    processors: [filter]
    input: { traces: [{ spans: [{ name: x }, { name: y }] }], logs: [{ body: { text: a } }] }
    expect:
      traces: [{ spans: [{ name: z, model: gpt }] }]
      logs:
        - body: { text: b }
        - {}
      dropped: {}
  - name: refused
    processors: [validation]
    input: { traces: [{ ended_at: 2020-01-01T00:00:00Z }] }
    expect: { refused: [{ index: 0, reason: nonsense }] }
  - name: refused by surprise
    processors: [validation]
    input: { traces: [{ ended_at: 2020-01-01T00:00:00Z }] }
    expect: { traces: [] }
`,
  );
  t.equal(code, 1);
  t.match(out, './a.test.yaml:7:34: traces[0].spans[0].name\n        expected  "z"\n        received  "y"\n');
  t.match(
    out,
    './a.test.yaml:7:44: traces[0].spans[0].model\n        expected  "gpt"\n        received  nothing\n',
  );
  t.match(out, './a.test.yaml:9:9: logs\n        expected  2 in the list\n        received  1: [{');
  t.match(out, './a.test.yaml:9:25: logs[0].body.text\n        expected  "b"\n        received  "a"\n');
  t.match(out, 'dropped.spans\n        expected  0\n        received  1\n');
  t.match(out, 'refused[0].reason\n        expected  "/nonsense/"\n        received  "/trace/ended_at: must');
  t.match(out, './a.test.yaml:19:13: refused\n        expected  0 in the list');
  t.match(out, '3 tests in 1 file: 0 passed, 3 failed');
});

void t.test('shows requests of an http exporter without configured headers', async (t) => {
  const { code, out } = await runText(
    t,
    `exporters:
  http:
    url: https://hooks.example.com/\${{ event.type }}
    headers: { authorization: ${MASKED}, x-id: '\${{ event.data.id }}' }
    body: { text: '\${{ event.data.id }}' }
tests:
  - name: good
    exporter: http
    input: { events: [{ type: webhook.test, data: { id: a } }] }
    expect:
      requests: [{ url: https://hooks.example.com/webhook.test, headers: { X-Id: a }, body: { text: a } }]
  - name: bad
    exporter: http
    input: { events: [{ type: webhook.test, data: { id: a } }] }
    expect:
      requests: [{ method: PUT, headers: { authorization: none } }]
`,
  );
  t.equal(code, 1);
  t.match(out, '✓ good');
  t.match(out, 'requests[0].method\n        expected  "PUT"\n        received  "POST"\n');
  t.match(out, 'received  "[secret]"');
  t.notMatch(out, MASKED);
});

void t.test('a test can advance the clock', async (t) => {
  const { code, out } = await runText(
    t,
    `processors: { rate_limit: { items_per_second: 1, burst: 1 } }
tests:
  - name: steps
    processors: [rate_limit]
    steps:
      - { input: { logs: [{ body: a }] }, expect: { logs: [{ timestamp: 2026-01-15T12:00:00Z }] } }
      - { input: { logs: [{ body: b }] }, expect: { failed: rate_limited } }
      - { after: 2s, input: { logs: [{ body: c }] }, expect: { logs: [{ timestamp: 2026-01-15T12:00:02Z }] } }
`,
  );
  t.equal(code, 0, out);
});

void t.test('reports stored counts, the service map and exported items', async (t) => {
  const { code, out } = await runText(
    t,
    `processors: { quota: { monthly_events: 3, count: [spans] }, service_map: {} }
tests:
  - name: good
    processors: [quota, service_map]
    exporter: storage
    quota: { used: 1 }
    steps:
      - input: { traces: [{ agent: a, spans: [{ type: http, name: GET /, metadata: { server.address: b } }] }] }
        expect:
          delivered: { traces: [{ agent: a, spans: [{ name: GET / }] }], logs: [] }
          service_map: { nodes: [{ id: a }, { id: b }], edges: [{ source: a, target: b, weight: 1 }] }
          usage: { used: 2, limit: 3 }
      - input: { traces: [{ agent: c, spans: [{}, {}] }], logs: [{ body: x }] }
        expect:
          failed: quota_exceeded
          delivered: { traces: [], logs: [{ body: x }] }
          service_map: { nodes: [], edges: [] }
  - name: bad
    processors: [quota, service_map]
    exporter: storage
    input: { traces: [{ agent: a }] }
    expect:
      delivered: { traces: [{ agent: b }] }
      service_map: { nodes: [], edges: [] }
      usage: { used: 7 }
`,
  );
  t.equal(code, 1);
  t.match(out, '✓ good', out);
  t.match(
    out,
    'a.test.yaml:23:38: delivered.traces[0].agent\n        expected  "b"\n        received  "a"\n',
  );
  t.match(out, 'service_map.nodes\n        expected  0 in the list\n        received  1: [{"id":"a"');
  t.match(out, 'usage.used\n        expected  7\n        received  1\n');
});

void t.test('reports errors of a file or a test', async (t) => {
  const cases = [
    [
      'tests: [{ name: a, input: { traces: [{ agnt: x }] }, expect: {} }]',
      78,
      /:1:40: error: tests\[0\]\.input\.traces\[0\]\.agnt: unknown key "agnt"; did you mean "agent"\?/,
    ],
    [
      'processors: { filter: { spans: ["span.nam"] } }\ntests: [{ name: a, expect: {} }]',
      78,
      /:1:33: error: processors\.filter\.spans\[0\]: span has no field "nam"/,
    ],
    ['tests: [{ name: a, processors: [filtr], expect: {} }]', 1, /there is no processor "filtr"/],
    [
      'tests: [{ name: a, pipeline: trace, expect: {} }]',
      1,
      /there is no pipeline "trace"; did you mean "traces"/,
    ],
    [
      'tests: [{ name: a, exporter: storage, input: { logs: [{}] }, expect: { requests: [] } }]',
      1,
      /:1:72: error: tests\[0\]\.expect\.requests: the exporter does not have the type http: use delivered/,
    ],
    [
      'exporters: { http: { url: https://a.example/, item: log } }\ntests: [{ name: a, exporter: http, input: { logs: [{}] }, expect: { delivered: {} } }]',
      1,
      /:2:69: error: tests\[0\]\.expect\.delivered: the exporter has the type http: use requests/,
    ],
    [
      'tests: [{ name: a, quota: { used: 1 }, expect: {} }]',
      1,
      /:1:20: error: tests\[0\]\.quota: has no effect: add a processor of type quota to the chain/,
    ],
    [
      'tests: [{ name: a, processors: [quota], quota: { usd: 1 }, expect: {} }]',
      78,
      /:1:50: error: tests\[0\]\.quota\.usd: unknown key "usd"; did you mean "used"\?/,
    ],
    ['tests: [{ name: a }]', 1, /:1:9: error: tests\[0\]\.expect: is missing/],
    [
      'tests: [{ name: a, input: { logs: [{ timestamp: soon }] }, expect: {} }]',
      1,
      /timestamp: must be a time/,
    ],
    ['tests: [{ name: a, input: { otlp: [{ a: 1 }] }, expect: {} }]', 1, /not OTLP\/JSON/],
    ['config: gone.yaml\ntests: [{ name: a, expect: {} }]', 78, /gone\.yaml cannot be read/],
    [
      "processors: { filter: { spans: ['${env:HOME}'] } }\ntests: [{ name: a, expect: {} }]",
      78,
      /HOME is not set/,
    ],
  ] as const;
  for (const [text, code, expected] of cases) {
    const result = await runText(t, text);
    t.equal(result.code, code, text);
    t.match(result.out + result.err, expected);
  }
  t.equal((await runInProcess(['test', '/nowhere/at/all'])).code, 2);
  t.match((await runInProcess(['test', t.testdir({})])).stderr, /there is no \*\.test\.yaml/);
});

void t.test('prints JSON', async (t) => {
  const { code, out } = await runText(
    t,
    'tests: [{ name: a, input: { logs: [{ body: x }] }, expect: { logs: [{ body: y }] } }]',
    '--json',
  );
  t.equal(code, 1);
  t.match(JSON.parse(out), [
    {
      file: /a\.test\.yaml$/,
      line: 1,
      name: 'a',
      ok: false,
      problem: null,
      differences: [{ line: 1, path: 'logs[0].body', expected: '"y"', received: '"x"' }],
    },
  ]);
});

void t.test('each processor has tests', async (t) => {
  for (const { kind, type } of builtinFactories) {
    if (kind !== 'processor') continue;
    const folder = join(projectFolder(), 'src/processors', type.replaceAll('_', '-'));
    t.ok(existsSync(join(folder, 'example.test.yaml')), type);
  }
  return Promise.resolve();
});

void t.test('each built-in template has a page and tests', async (t) => {
  const names = readdirSync(join(projectFolder(), 'plugins')).filter((name) =>
    existsSync(join(projectFolder(), 'plugins', name, 'template.yaml')),
  );
  t.ok(names.includes('slack-events'));
  for (const name of names) {
    t.match(readProjectFile(`plugins/${name}/README.md`), `jackdaw/plugins/${name}`);
    t.ok(existsSync(join(projectFolder(), 'plugins', name, 'template.test.yaml')), name);
  }
  const { err } = await runText(
    t,
    'plugins: [jackdaw/plugins/slack-event]\ntests: [{ name: a, expect: {} }]',
  );
  t.match(err, /Jackdaw has no plugin "slack-event"; did you mean "slack-events"/);
});
