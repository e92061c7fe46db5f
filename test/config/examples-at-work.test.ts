import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { builtinFactories } from '../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { aRecentRun, makeAgent, makeAlert } from '../support/alert-calls.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon } from '../support/daemon.js';
import { logRequest } from '../support/log-request.js';
import { startMails } from '../support/mail-server.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { startOtlpEndpoint } from '../support/otlp-endpoint.js';
import { PostgresServer } from '../support/postgres.js';
import { projectFolder, readProjectFile } from '../support/project-file.js';
import { S3Server } from '../support/s3-server.js';
import { anItem } from '../support/trace-batch.js';
import { testFolder } from '../support/test-folder.js';
import { until } from '../support/until.js';
import { AUTHORITY } from '../support/webhook-certificates.js';
import { startReceiver } from '../support/webhook-receiver.js';
import { yamlExample, yamlExamples } from '../support/yaml-examples.js';

/*
 * `every-component.test.ts` checks that examples are valid; this checks that each one does what its page says: a test file next to it
 * runs it, or a test of this file if test files cannot.
 */

const KINDS = ['receivers', 'processors', 'exporters', 'extensions'] as const;

interface TestCase {
  readonly daemon?: boolean;
  readonly processors?: readonly string[];
  readonly pipeline?: string;
  readonly exporter?: string;
}

interface TestFile {
  /** Paths relative to the project folder. */
  readonly path: string;
  readonly text: string;
  readonly written: {
    readonly config?: string | readonly string[];
    readonly files?: Readonly<Record<string, { readonly copy?: string }>>;
    readonly tests: readonly TestCase[];
  };
}

type Example = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

type Pipelines = Readonly<Record<string, { readonly processors?: readonly string[] } | undefined>>;

/** Base configurations of the examples. */
const BUILT_IN = parse(DEFAULT_CONFIG.text) as Example;

const testFiles: readonly TestFile[] = ['src', 'plugins'].flatMap((folder) =>
  readdirSync(join(projectFolder(), folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.yaml'))
    .map((name) => {
      const path = join(folder, name);
      const text = readProjectFile(path);
      return { path, text, written: parse(text) as TestFile['written'] };
    }),
);

/** Examples run by a test file, as `src/cli/README.md#1`. */
function examplesOf({ path, written: { config, files = {} } }: TestFile): readonly string[] {
  const copied = Object.values(files).flatMap(({ copy }) => copy ?? []);
  return [config ?? [], copied].flat(2).map((name) => {
    const [page = '', number = '1'] = name.split('#');
    return `${relative('', normalize(join(dirname(path), page)))}#${number}`;
  });
}

/** Whether a test exercises a component of an example. */
function exercises(test: TestCase, kind: (typeof KINDS)[number], id: string, example: Example): boolean {
  if (test.daemon === true) return true;
  if (kind === 'exporters') return test.exporter === id;
  if (kind !== 'processors') return false;
  const chains = [example, BUILT_IN].map(
    ({ service }) => (service?.['pipelines'] as Pipelines | undefined)?.[test.pipeline ?? '']?.processors,
  );
  return (test.processors ?? chains.find((chain) => chain !== undefined) ?? []).includes(id);
}

/** The components of an example that no test exercises. */
function untested(name: string, text: string): readonly string[] {
  const example = parse(text) as Example;
  const files = testFiles.filter((file) => examplesOf(file).includes(name));
  if (files.length === 0) return [name];
  const tests = files.flatMap(({ written }) => written.tests);
  return KINDS.flatMap((kind) =>
    Object.keys(example[kind] ?? {})
      .filter((id) => !tests.some((test) => exercises(test, kind, id, example)))
      .map((id) => `${name} ${kind}.${id}`),
  );
}

/** Runs a test file on an example. */
async function runTests(t: Test, name: string, text: string): Promise<void> {
  const [page = ''] = name.split('#');
  const configs = ['config.example.yaml', page].map((path) => resolve(projectFolder(), path));
  const file = join(testFolder(t), 'a.test.yaml');
  writeFileSync(file, `config: ${JSON.stringify(configs)}\n${text}`);
  const { code, stdout, stderr } = await runInProcess(['test', file]);
  t.equal(code, 0, stdout + stderr);
}

/** A failed run reaches a local receiver, signed. @param targets overlay of the example, with the CA of the tests */
async function sendsWebhooks(t: Test, name: string, targets: object): Promise<void> {
  const receiver = await startReceiver(t);
  const caFile = join(testFolder(t), 'authority.pem');
  writeFileSync(caFile, AUTHORITY);
  const example = parse(yamlExample(name)) as { readonly exporters: { readonly webhook: object } };
  const written = example.exporters.webhook as { readonly targets: object };
  const webhook = { ...written, targets: { ...written.targets, ...targets, ca_file: caFile } };
  const overlay = JSON.stringify({ ...example, exporters: { webhook } });
  const daemon = await startTestDaemon(t, { overlay });
  const api = new ApiCaller(daemon.url, daemon.key);
  const json = { url: `https://127.0.0.1:${receiver.port}/hook`, event_types: ['trace.failed'] };
  t.equal((await api.call('POST', '/org/default/webhooks/endpoints', { json })).status, 201);
  await api.send([anItem({ trace: { status: 'failed' } })]);
  await until('it came', () => receiver.requests.length === 1);
  t.match(receiver.requests, [
    { line: 'POST /hook HTTP/1.1', headers: { 'x-service-event': 'trace.failed' } },
  ]);
}

/** Examples that a test file cannot run, each with its test. */
const elsewhere: Readonly<Record<string, (t: Test) => Promise<void>>> = {
  'src/cli/configuration.md#1': async (t) => {
    const file = join(testFolder(t), 'overlay.yaml');
    writeFileSync(file, yamlExample('src/cli/configuration.md#1'));
    const { code, stdout } = await runInProcess(['config', 'print', '--config', file]);
    t.equal(code, 0);
    const printed = parse(stdout) as { readonly service: { readonly pipelines: object } };
    t.match(printed.service.pipelines, {
      traces: {
        processors: ['validation', 'redact', 'quota', 'cost', 'service_map'],
        exporters: ['storage', 'otlp_http'],
      },
    });
  },
  'src/extensions/backup/README.md#2': async (t) => {
    const s3 = await S3Server.start(t);
    s3.setVariables(t);
    const overlay = yamlExample('src/extensions/backup/README.md#2').replace(
      'https://minio.example.com',
      s3.url,
    );
    await startTestDaemon(t, { overlay });
    await until('the daemon has made a backup', () => s3.count('PUT /backups/jackdaw/manifests/') === 1);
    t.pass();
  },
  'src/extensions/postgres/README.md#1': async (t) => {
    const server = await PostgresServer.start(t);
    if (typeof server === 'string') return void t.pass(server);
    const tests = `env: { JACKDAW_POSTGRES_URL: ${JSON.stringify(await server.createDatabase())} }
tests:
  - name: users lie in PostgreSQL, and nothing in a file
    daemon: true
    steps:
      - send: [{ to: 'http://127.0.0.1:4319/api/v1/admin/users', body: { email: ann@example.com, name: Ann } }]
        expect: { answers: [{ status: 201 }], files: { ./data/jackdaw.control.db: null } }
      - input: { traces: [{ agent: support }] }
        send: [{ to: 'http://127.0.0.1:4319/api/v1/dashboard/traces' }]
        expect: { answers: [{ body: { items: [{ agent_name: support }] } }] }
`;
    await runTests(t, 'src/extensions/postgres/README.md#1', tests);
    const [database = ''] = (
      await server.query(
        'select datname from pg_database where datname like $$t%$$ and datname not like $$templ%$$',
      )
    ).map(({ datname }) => String(datname));
    const users = await server.query(
      'select email from users order by email',
      server.url.replace(/\/postgres$/, `/${database}`),
    );
    t.strictSame(users, [{ email: 'admin@localhost' }, { email: 'ann@example.com' }]);
  },
  'src/extensions/clickhouse/README.md#1': async (t) => {
    const server = await ClickHouseServer.start(t);
    if (typeof server === 'string') return void t.pass(server);
    const variables = { JACKDAW_CLICKHOUSE_URL: server.url, JACKDAW_CLICKHOUSE_PASSWORD: server.password };
    const tests = `env: ${JSON.stringify(variables)}
tests:
  - name: log records lie in ClickHouse
    daemon: true
    steps:
      - input: { logs: [{ body: it failed }] }
        send: [{ to: 'http://127.0.0.1:4319/api/v1/dashboard/logs/search?query=failed' }]
        expect: { answers: [{ body: { items: [{ body: it failed }] } }] }
`;
    await runTests(t, 'src/extensions/clickhouse/README.md#1', tests);
    t.strictSame(await server.query('SELECT body FROM jackdaw.logs'), [['it failed']]);
  },
  'src/extensions/clickhouse/operating.md#1': async (t) => {
    const [postgres, server] = [await PostgresServer.start(t), await ClickHouseServer.start(t)];
    if (typeof postgres === 'string') return void t.pass(postgres);
    if (typeof server === 'string') return void t.pass(server);
    const variables = {
      JACKDAW_POSTGRES_URL: await postgres.createDatabase(),
      JACKDAW_CLICKHOUSE_URL: server.url,
      JACKDAW_CLICKHOUSE_PASSWORD: server.password,
    };
    const tests = `env: ${JSON.stringify(variables)}
tests:
  - name: what one gateway takes is in the stores that all share
    daemon: true
    steps:
      - input: { traces: [{ agent: support, spans: [{ type: llm, name: answer }] }] }
        send: [{ to: 'http://127.0.0.1:4319/api/v1/dashboard/traces' }]
        expect:
          answers: [{ body: { items: [{ agent_name: support, span_count: 1 }] } }]
          files: { ./data/jackdaw.control.db: null, ./data/jackdaw.duckdb: null }
`;
    await runTests(t, 'src/extensions/clickhouse/operating.md#1', tests);
    t.strictSame(await server.query('SELECT name FROM jackdaw.spans'), [['answer']]);
  },
  'src/exporters/webhook/README.md#1': async (t) => {
    await sendsWebhooks(t, 'src/exporters/webhook/README.md#1', { allow_cidrs: ['127.0.0.1/32'] });
  },
  'plugins/webhook-receiver/README.md#1': async (t) => {
    await sendsWebhooks(t, 'plugins/webhook-receiver/README.md#1', {});
  },
  'src/receivers/otlp/tenants.md#1': async (t) => {
    const { otlpUrl, key } = await startTestDaemon(t, {
      overlay: yamlExample('src/receivers/otlp/tenants.md#1'),
    });
    // The example's users do not exist; `tenants.test.ts` has others.
    const resourceLogs = ['payments', 'nobody'].map((team) => ({
      resource: { attributes: [{ key: 'team', value: { stringValue: team } }] },
      scopeLogs: [{ logRecords: [{ severityNumber: 9, body: { stringValue: 'hello' } }] }],
    }));
    const response = await fetch(`${otlpUrl}/v1/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceLogs }),
    });
    t.match(await response.json(), {
      partialSuccess: {
        rejectedLogRecords: '2',
        errorMessage: /names no active user of receivers\.otlp\.tenant/,
      },
    });
  },
  'src/telemetry/own-telemetry.md#1': async (t) => {
    const server = await startOtlpEndpoint(t);
    const overlay = yamlExample('src/telemetry/own-telemetry.md#1').replace(
      'http://collector:4318',
      server.url,
    );
    const { daemon } = await startTestDaemon(t, { overlay });
    await daemon.shutdown();
    t.match(JSON.stringify(server.requests.map(({ body }) => body)), /"deployment\.environment\.name"/);
  },
  'src/receivers/trace-batch/README.md#2': async (t) => {
    const { url, key } = await startTestDaemon(t, {
      overlay: yamlExample('src/receivers/trace-batch/README.md#2'),
    });
    // The example's user does not exist; `tenants.test.ts` has others.
    const reply = await new ApiCaller(url, key).call('POST', '/traces/batch', {
      json: { traces: [{ trace: { metadata: { resource: { team: 'payments' } } }, spans: [] }] },
    });
    t.match(reply, {
      body: { rejected: 1, errors: [{ error: /names no active user of receivers\.trace_batch\.tenant/ }] },
    });
  },
  'src/exporters/otlp-http/balance.md#1': async (t) => {
    const gateway = await startOtlpEndpoint(t);
    const example = parse(yamlExample('src/exporters/otlp-http/balance.md#1')) as {
      readonly exporters: { readonly otlp_http: object };
    };
    const { otlp_http } = example.exporters;
    const queue = { type: 'disk', directory: testFolder(t) };
    const exporters = { otlp_http: { ...otlp_http, endpoint: `http://localhost:${gateway.port}`, queue } };
    const { otlpUrl, key } = await startTestDaemon(t, { overlay: JSON.stringify({ ...example, exporters }) });
    const response = await fetch(`${otlpUrl}/v1/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(logRequest('app', [{ body: 'hello', nanos: 1n }])),
    });
    t.equal(response.status, 200);
    await gateway.received(1);
  },
  'src/exporters/alerts/README.md#1': async (t) => {
    const mails = await startMails(t);
    const example = parse(yamlExample('src/exporters/alerts/README.md#1')) as { readonly smtp: object };
    const smtp = { ...example.smtp, host: '127.0.0.1', port: mails.port, require_tls: false };
    const { url, key } = await startTestDaemon(t, { overlay: JSON.stringify({ ...example, smtp }) });
    const api = new ApiCaller(url, key);
    await api.call('PATCH', `/admin/users/${(await api.get<{ user: { id: string } }>('/me')).user.id}`, {
      json: { email: 'ann@example.com' },
    });
    const agent_id = await makeAgent(api, 'support');
    await makeAlert(api, { agent_id, type: 'failure_rate', threshold: 0.4, channel: 'email' });
    await api.send([aRecentRun({ agent: 'support', status: 'failed', success: false })]);
    await until('it came', () => mails.received.length === 1);
    const [mail] = mails.received;
    t.match(mail?.text, /^From: Jackdaw <alerts@example\.com>/m);
    t.match(mail?.text, /support/);
  },
};

void t.test('every component of every example is tested', async (t) => {
  const missing = yamlExamples
    // Examples of tests run next to an empty configuration: `every-component.test.ts`.
    .filter(({ name, text }) => elsewhere[name] === undefined && !/^tests:$/m.test(text))
    .flatMap(({ name, text }) => untested(name, text));
  t.strictSame(missing, []);
  const names = yamlExamples.map(({ name }) => name);
  for (const name of Object.keys(elsewhere)) t.ok(names.includes(name), name);
});

void t.test('an untested example is found', async (t) => {
  t.strictSame(untested('src/nowhere/README.md#1', 'processors: { filter: {} }'), [
    'src/nowhere/README.md#1',
  ]);
  t.strictSame(
    untested('src/processors/cost/README.md#1', 'processors: { cost: {}, other: {} }\nreceivers: { a: {} }'),
    ['src/processors/cost/README.md#1 receivers.a', 'src/processors/cost/README.md#1 processors.other'],
  );
});

void t.test('each built-in component and plugin has a test file or a tested example', async (t) => {
  const isTested = (folder: string) =>
    testFiles.some(({ path }) => dirname(path) === folder) ||
    Object.keys(elsewhere).some((name) => name.startsWith(`${folder}/`));
  for (const { kind, type } of builtinFactories)
    t.ok(isTested(join('src', `${kind}s`, type.replaceAll('_', '-'))), `${kind} ${type}`);
  for (const { name } of readdirSync(join(projectFolder(), 'plugins'), { withFileTypes: true }))
    // Files to deploy are no plugin.
    if (name !== 'deploy' && existsSync(join(projectFolder(), 'plugins', name, 'README.md')))
      t.ok(isTested(join('plugins', name)), name);
});

for (const [name, run] of Object.entries(elsewhere)) void t.test(name, run);

void t.test('all test files are in folders that run', async (t) => {
  const run = readdirSync(join(projectFolder(), 'test/cli/examples')).map((name) =>
    name.replace('.test.ts', ''),
  );
  const folders = run.map((name) => (name === 'plugins' ? name : join('src', name)));
  t.strictSame(
    testFiles
      .map(({ path }) => path)
      .filter((path) => !folders.some((folder) => path.startsWith(`${folder}/`))),
    [],
  );
});
