import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runInProcess } from '../support/cli.js';
import { testFolder } from '../support/test-folder.js';

/** Runs `jackdaw test` on a file with this text. */
async function runText(t: Test, text: string) {
  const folder = t.testdir({});
  writeFileSync(join(folder, 'a.test.yaml'), text);
  const { code, stdout, stderr } = await runInProcess(['test', folder]);
  return { code, out: (stdout + stderr).replaceAll(folder, '.'), folder };
}

// Other test files run in parallel.
process.env['TMPDIR'] = testFolder(t);
const foldersOfTests = () => readdirSync(tmpdir()).filter((name) => name.startsWith('jackdaw-test-'));

/** Pipelines without a store, so that a daemon starts quickly. Items of one step stay in one batch, also on a busy machine. */
const SMALL = `auth: { enabled: false }
receivers: { trace_batch: {} }
exporters: { file: { path: ./out/runs.jsonl }, otlp_http: { endpoint: '\${env:GATEWAY}', queue: { batch: { max_wait: 3s } } } }
extensions: { health: {} }
service:
  extensions: [health]
  shutdown_timeout: 1s
  pipelines: { traces: { receivers: [trace_batch], exporters: [file, otlp_http] } }
  telemetry: { metrics: { endpoint: '127.0.0.1:8888' } }
`;

void t.test('a daemon receives, writes, forwards, sends and responds, and leaves no files', async (t) => {
  const before = foldersOfTests();
  const { code, out, folder } = await runText(
    t,
    `${SMALL}
servers: { GATEWAY: { answers: [{ status: 503, headers: { retry-after: '60' } }, {}] } }
tests:
  - name: all of it
    daemon: true
    steps:
      - input: { traces: [{ agent: a, spans: [{ name: s }] }] }
        send:
          - to: http://127.0.0.1:4319/api/v1/traces/batch
            body: { traces: [{ trace: { trace_id: a287bb31-e317-4336-10d8-827617471140, agent: b, started_at: 2026-11-03T08:15:30Z }, spans: [] }] }
          - { to: 'http://localhost:8888/metrics' }
        expect:
          traces: [{ agent: a, spans: [{ name: s }] }, { agent: b }]
          answers: [{ status: 200, headers: { Content-Type: /json/ }, body: { accepted: 1 } }, { body: /jackdaw_/ }]
          files: { ./out/runs.jsonl: [{}], ./out/none: null }
          requests: [{ server: GATEWAY, method: POST, path: /v1/traces, traces: [{ agent: a }, { agent: b }] }]
      - { after: 50s, expect: { requests: [], traces: [] } }
      - { after: 60s, expect: { requests: [{ path: /v1/traces, traces: [{ agent: a }, { agent: b }] }] } }
`,
  );
  t.equal(code, 0, out);
  t.strictSame(foldersOfTests(), before);
  t.notOk(existsSync(join(folder, 'out')));
  t.notOk(existsSync('out'));
});

void t.test('differences name their position and the response without secrets', async (t) => {
  const { code, out } = await runText(
    t,
    `${SMALL}env: { GATEWAY: 'http://127.0.0.1:9' }
tests:
  - name: wrong
    daemon: true
    input: { traces: [{ agent: a }] }
    send: [{ to: 'http://127.0.0.1:4319/api/v1/nothing' }]
    expect:
      traces: [{ agent: b }]
      answers: [{ status: 200 }]
      files: { ./out/runs.jsonl: x }
      log: [/never said/]
`,
  );
  t.equal(code, 1);
  t.match(out, 'a.test.yaml:17:25: traces[0].agent\n        expected  "b"\n        received  "a"\n');
  t.match(
    out,
    /a\.test\.yaml:18:27: answers\[0\]\.status\n +expected {2}200\n +received {2}404: .*"not_found"/,
  );
  t.match(out, /a\.test\.yaml:19:34: files\["\.\/out\/runs\.jsonl"\]\n +expected {2}"x"\n/);
  t.match(out, /a\.test\.yaml:20:13: log\[0\]\n +expected {2}"\/never said\/"/);
});

void t.test('untestable parts are reported with their position', async (t) => {
  const cases = [
    [
      'tests: [{ name: a, send: [{ to: "http://127.0.0.1:1/" }], expect: {} }]',
      /:1:20: error: tests\[0\]\.send: needs a daemon: set daemon: true/,
    ],
    [
      'tests: [{ name: a, expect: { answers: [] } }]',
      /:1:30: error: tests\[0\]\.expect\.answers: is available for daemons only/,
    ],
    [
      'tests: [{ name: a, daemon: true, processors: [cost], expect: {} }]',
      /:1:34: error: tests\[0\]\.processors: applies to chains only/,
    ],
    [
      `${SMALL}env: { GATEWAY: 'http://127.0.0.1:9' }\ntests: [{ name: a, daemon: true, expect: { dropped: {} } }]`,
      /tests\[0\]\.expect\.dropped: is available for chains only/,
    ],
    [
      `${SMALL}env: { GATEWAY: 'http://127.0.0.1:9' }\ntests: [{ name: a, daemon: true, send: [{ to: 'http://127.0.0.1:7/' }], expect: {} }]`,
      /tests\[0\]\.send\[0\]\.to: nothing that is configured listens on 127\.0\.0\.1:7/,
    ],
    [
      `${SMALL}env: { GATEWAY: 'http://127.0.0.1:9' }\ntests: [{ name: a, daemon: true, send: [{ to: 127.0.0.1 }], expect: {} }]`,
      /tests\[0\]\.send\[0\]\.to: must be a URL/,
    ],
    [
      `${SMALL}env: { GATEWAY: none }\ntests: [{ name: a, daemon: true, expect: {} }]`,
      /tests\[0\]\.daemon: the daemon does not start: .*a\.test\.yaml:3:61: error: exporters\.otlp_http\.endpoint: /,
    ],
  ] as const;
  for (const [text, expected] of cases) {
    const { code, out } = await runText(t, text);
    t.equal(code, 1, text);
    t.match(out, expected);
  }
});

void t.test('processor chains include plugin exporters without their output', async (t) => {
  const { code, out, folder } = await runText(
    t,
    `plugins: [jackdaw/plugins/runs-csv]
exporters: { runs_csv: { path: ./never/runs.csv } }
tests:
  - name: given
    exporter: runs_csv
    input: { traces: [{ agent: a }] }
    expect: { delivered: { traces: [{ agent: a }] } }
`,
  );
  t.equal(code, 0, out);
  t.notOk(existsSync(join(folder, 'never')));
  t.notOk(existsSync('never'));
});

void t.test('an http exporter sends only to servers of the test', async (t) => {
  const { code, out } = await runText(
    t,
    `auth: { enabled: false }
servers: { HOOK: {} }
receivers: { trace_batch: {} }
exporters:
  http/here: { url: '\${env:HOOK}/a', item: trace, body: { a: '\${{ trace.agent }}' }, targets: { allow_cidrs: [127.0.0.0/8] } }
  http/there: { url: 'https://hooks.example.com/b', item: trace, body: { b: '\${{ trace.agent }}' } }
extensions: { health: {} }
service:
  extensions: [health]
  pipelines:
    traces: { receivers: [trace_batch], exporters: [http/here] }
    traces/there: { receivers: [trace_batch], exporters: [http/there] }
tests:
  - name: both are seen
    daemon: true
    steps:
      - input: { traces: [{ agent: x }] }
        expect: { traces: [{}, {}], requests: [{}, {}] }
      - expect: {}
`,
  );
  t.equal(code, 0, out);
});
