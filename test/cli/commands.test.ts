import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { runInProcess } from '../support/cli.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/http-certificate.js';
import { runCli } from '../support/process.js';
import { projectFolder } from '../support/project-file.js';

const EXAMPLE = join(projectFolder(), 'config.example.yaml');

void t.test('help and version exit with 0 and document the exit codes', async (t) => {
  const help = await runInProcess(['--help']);
  t.match(help, { code: 0, stderr: '' });
  for (const command of [
    'run',
    'validate',
    'components',
    'schema',
    'graph',
    'explain',
    'keys',
    'users',
    'orgs',
    'alerts',
    'demo',
    'version',
  ])
    t.match(help.stdout, new RegExp(`^  ${command} `, 'm'));
  t.match(help.stdout, /0 {4}done[^]*1 {4}failure[^]*2 {4}usage[^]*78 {3}configuration/);
  t.match(await runInProcess(['graph', '--help']), { code: 0, stdout: /--format <format>/ });
  const version = await runInProcess(['version']);
  t.match(version, { code: 0, stdout: /^jackdaw \d+\.\d+\.\d+ \(node v?\d+\./ });
  t.strictSame(await runInProcess(['--version']), version);
});

void t.test('unknown commands and options are usage errors with a suggestion', async (t) => {
  t.match(await runInProcess(['validat']), {
    code: 2,
    stdout: '',
    stderr: /unknown command 'validat'\n\(Did you mean validate\?\)/,
  });
  t.match(await runInProcess(['run', '--confg', 'x']), {
    code: 2,
    stderr: /unknown option '--confg'\n\(Did you mean --config\?\)/,
  });
  t.match(await runInProcess(['graph', '--format', 'svg']), {
    code: 2,
    stderr: /Allowed choices are mermaid, dot/,
  });
  t.match(await runInProcess(['keys', 'creat']), { code: 2, stderr: /Did you mean create\?/ });
  t.match(await runInProcess(['version', 'now']), { code: 2, stderr: /too many arguments/ });
  t.match(await runInProcess([]), { code: 2, stderr: /Usage: jackdaw/ });
});

void t.test('an invalid configuration exits with 78 and all its errors', async (t) => {
  const folder = t.testdir({ 'a.yaml': 'recievers: {}\nservice: { pipelines: {} }\n' });
  for (const command of ['validate', 'graph'])
    t.match(await runInProcess([command, '--config', join(folder, 'a.yaml')]), {
      code: 78,
      stdout: '',
      stderr:
        /^\S+a\.yaml:1:1: error: recievers: .* did you mean "receivers"\?\n\S+a\.yaml:2:12: error: service\.pipelines: must not be empty\njackdaw: the configuration has 2 errors\n$/,
    });
  const run = await runInProcess(['run', '--config', join(folder, 'a.yaml')]);
  t.match(run, { code: 78, stdout: '' });
  t.match(
    run.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
    [
      { level: 'error', msg: /a\.yaml:1:1: error: recievers: .* did you mean "receivers"\?$/ },
      { level: 'error', msg: /a\.yaml:2:12: error: service\.pipelines: must not be empty$/ },
      { level: 'error', msg: 'jackdaw: the configuration has 2 errors' },
    ],
    'the daemon logs JSON without a terminal',
  );
  writeFileSync(
    join(folder, 'pretty.yaml'),
    'recievers: {}\nservice: { telemetry: { logs: { format: pretty } } }\n',
  );
  t.match(await runInProcess(['run', '--config', join(folder, 'pretty.yaml')]), {
    code: 78,
    stderr: /^\S+pretty\.yaml:1:1: error: [^]*jackdaw: the configuration has \d errors?\n/,
  });
  t.match(await runInProcess(['validate', '--config', '/nowhere/missing.yaml']), {
    code: 78,
    stderr: /--config \/nowhere\/missing\.yaml cannot be read: .*ENOENT/,
  });
});

void t.test('an incomplete pipeline reports how to change the built-in one', async (t) => {
  const text =
    'processors: { filter: {} }\nservice: { pipelines: { logs: { processors: [validation, filter, quota] } } }\n';
  const half = join(t.testdir({ 'half.yaml': text }), 'half.yaml');
  const { code, stderr } = await runInProcess(['graph', '--config', half]);
  t.equal(code, 78);
  t.match(stderr, /pipelines\.logs\.receivers: is missing/);
  t.match(
    stderr,
    /to change the built-in one \(\S+config\.example\.yaml\), write "extends: default" at the top/,
  );
  writeFileSync(half, `extends: default\n${text}`);
  t.match(await runInProcess(['graph', '--config', half]), { code: 0, stdout: /filter/ });

  const whole =
    'processors: { filter: {} }\nservice: { pipelines: { logs: { receivers: [otlp], processors: [filter, quota], exporters: [storage] } } }\n';
  const named = join(t.testdir({ 'named.yaml': whole }), 'named.yaml');
  t.match(await runInProcess(['validate', '--config', named]), {
    code: 78,
    stderr:
      /processors\[1\]: there is no processor "quota" under processors; declare it there, as in config\.example\.yaml\n[^]*write "extends: default"/,
  });
});

void t.test('a configuration without pipelines is merged over the built-in one', async (t) => {
  const folder = t.testdir({
    'some.yaml': 'processors: { cost: { prices: /nowhere/prices.yaml } }\n',
    'empty.yaml': '',
    'null.yaml': 'service:\n  pipelines:\n',
    'added.yaml': 'exporters: { debug: {} }\nservice: { extensions: [sqlite, duckdb, query] }\n',
    'whole.yaml': 'service: { pipelines: { traces: { receivers: [otlp], exporters: [debug] } } }\n',
  });
  const run = async (command: string, ...names: string[]) =>
    await runInProcess([command, ...names.flatMap((name) => ['--config', join(folder, name)])]);
  const builtIn = await runInProcess(['graph']);
  t.match(builtIn, { code: 0, stdout: /trace_batch/ });
  for (const name of ['empty.yaml', 'added.yaml']) t.strictSame(await run('graph', name), builtIn, name);
  const { code, stderr } = await run('graph', 'some.yaml');
  t.equal(code, 78);
  t.match(stderr, /some\.yaml:1:23: error: .*prices/, 'errors name their file');
  t.match(await run('graph', 'null.yaml'), {
    code: 78,
    stderr:
      /null\.yaml:2:3: error: service\.pipelines: has no value here, but built-in configuration:\d+ gives it one/,
  });
  t.match(
    await run('graph', 'added.yaml', 'whole.yaml'),
    { code: 78, stderr: /whole\.yaml:1:\d+: error: .*no receiver "otlp"/ },
    'a configuration with pipelines stands alone',
  );
});

void t.test('overlays: extends, folders, patterns and --set', async (t) => {
  const folder = t.testdir({
    '10-filter.yaml':
      'extends: default\nprocessors: { filter: {} }\nservice: { pipelines: { traces: { processors: { insert: { before: quota, ids: filter } } } } }\n',
    '20-log.yml': 'service: { telemetry: { logs: { level: warn } } }\n',
    'notes.txt': 'not: [yaml',
    '.hidden.yaml': 'not: [yaml',
  });
  const print = async (...args: string[]) => await runInProcess(['config', 'print', ...args]);
  const all = await print(
    '--config',
    folder,
    '--set',
    'extensions.duckdb.path=/tmp/"x"',
    '--set',
    'auth.enabled=false',
  );
  t.equal(all.code, 0, all.stderr);
  t.match(all.stdout, /- validation\n +- filter\n +- quota\n/);
  t.match(all.stdout, /level: warn/);
  t.match(all.stdout, /path: \/tmp\/"x"/);
  t.match(all.stdout, /enabled: false/);
  t.match(await print('--config', join(folder, '*.yaml')), { code: 0, stdout: /- filter[^]*level: info/ });
  t.match(await print('--config', join(folder, '?0-*')), { code: 0, stdout: /- filter[^]*level: warn/ });
  t.match(await print('--config', join(folder, 'x*')), { code: 78, stderr: /x\* matches no file/ });
  t.match(await print('--config', t.testdir({ 'a.txt': '' })), {
    code: 78,
    stderr: /has no file \*\.yaml or \*\.yml/,
  });

  const list = ['--set', 'service.pipelines.traces.processors=[validation, storage]'];
  t.match(await print(...list), {
    code: 78,
    stderr: /--set service\.pipelines\.traces\.processors:1:\d+: error: /,
  });
  const quoted = `processors.filter/noise.spans=['span.name == "x"']`;
  t.match(await print('--set', quoted), { code: 0, stdout: /span\.name == "x"/ });
  t.match(await print('--set', 'service.pipelines=[.inf]'), {
    code: 78,
    stderr: /\[\.inf\] is no finite number/,
  });
  t.match(await print('--set', 'auth'), { code: 78, stderr: /--set auth: must be key=value/ });
  t.match(await print('--set', 'auth.enabled=[no'), {
    code: 78,
    stderr: /--set auth\.enabled: the value is not YAML/,
  });
  t.match(await print('--set', 'auth.enabeld=false'), { code: 78, stderr: /did you mean "enabled"/ });
  t.match(await print('--set', 'auth.bootstrap_key=jd_' + 'a'.repeat(43)), {
    code: 0,
    stdout: /bootstrap_key: "?\[secret\]/,
  });
});

void t.test(
  'validate reports used ports and unwritable paths with all other errors and leaves no files',
  async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const folder = t.testdir({ file: 'not a folder' });
    const overlay = `extensions:
  duckdb: { path: ${JSON.stringify(join(folder, 'file/jackdaw.duckdb'))} }
  sqlite: { path: ${JSON.stringify(join(folder, 'x.db'))} }
  health: { endpoint: 127.0.0.1:${port} }
  query: { endpoint: 127.0.0.1:0 }
receivers: { trace_batch: { endpoint: 127.0.0.1:0, max_request_body_size: much }, otlp: { protocols: { http: { endpoint: 127.0.0.1:0 }, grpc: { endpoint: 127.0.0.1:0 } } } }
service: { telemetry: { metrics: { endpoint: null } } }
`;
    writeFileSync(join(folder, 'bad.yaml'), overlay);
    const bad = await runInProcess(['validate', '--config', EXAMPLE, '--config', join(folder, 'bad.yaml')]);
    t.equal(bad.code, 78);
    t.match(
      bad.stderr,
      /bad\.yaml:2:13: error: extensions\.duckdb\.path: .*jackdaw\.duckdb cannot be written: .*file is not a directory/,
    );
    t.match(
      bad.stderr,
      new RegExp(`bad.yaml:4:13: error: extensions.health.endpoint: port ${port} is taken`),
    );
    t.match(
      bad.stderr,
      /bad\.yaml:6:52: error: receivers\.trace_batch\.max_request_body_size: must be a size/,
    );
    t.match(bad.stderr, /has 3 errors/);
  },
);

void t.test('validate reports invalid certificates and conflicting ones on one listener', async (t) => {
  const folder = t.testdir({ 'server.crt': TEST_CERTIFICATE, 'server.key': TEST_KEY, 'empty.key': '' });
  const validate = async (query: string, receiver: string) => {
    const tls = (key: string) =>
      key === '' ? '' : `, tls: { cert_file: ${folder}/server.crt, key_file: ${folder}/${key} }`;
    const overlay = `extensions: { duckdb: { path: ${folder}/x.duckdb }, sqlite: { path: ${folder}/x.db }, health: { endpoint: 127.0.0.1:0 }, query: { endpoint: 127.0.0.1:0${tls(query)} } }
receivers: { trace_batch: { endpoint: 127.0.0.1:0${tls(receiver)} }, otlp: { protocols: { http: { endpoint: 127.0.0.1:0 }, grpc: { endpoint: 127.0.0.1:0 } } } }
service: { telemetry: { metrics: { endpoint: null } } }
`;
    writeFileSync(join(folder, 'tls.yaml'), overlay);
    return runInProcess(['validate', '--config', EXAMPLE, '--config', join(folder, 'tls.yaml')]);
  };
  t.match(await validate('server.key', 'server.key'), { code: 0 });
  t.match(await validate('server.key', ''), { code: 0 });
  t.match(await validate('empty.key', ''), {
    code: 78,
    stderr: /extensions\.query\.tls\.cert_file: .*empty\.key \(tls\.key_file\) contains no private key/,
  });
  t.match(await validate('nope.key', 'nope.key'), {
    code: 78,
    stderr: /cannot read .*nope\.key \(tls\.key_file\): ENOENT\n.*has 1 error\n/,
  });
  t.match(await validate('server.key', 'empty.key'), {
    code: 78,
    stderr:
      /receivers\.trace_batch\.tls\.cert_file: extension "query" has different TLS settings for the listener/,
  });
});

void t.test('validate accepts a valid configuration and prints warnings', async (t) => {
  const folder = t.testdir({
    'free.yaml': `extensions: { duckdb: { path: ./deep/er/x.duckdb }, sqlite: { path: ./deep/er/x.db }, query: { endpoint: 127.0.0.1:0 }, health: { endpoint: localhost:0 } }
receivers: { trace_batch: { endpoint: 127.0.0.1:0 }, trace_batch/spare: { endpoint: 127.0.0.1:0 }, otlp: { protocols: { http: { endpoint: 127.0.0.1:0 }, grpc: { endpoint: 127.0.0.1:0 } } } }
service: { telemetry: { metrics: { endpoint: null } } }
`,
  });
  const result = await runInProcess(['validate', '--config', EXAMPLE, '--config', join(folder, 'free.yaml')]);
  t.match(result, {
    code: 0,
    stdout: /config\.example\.yaml, \S+free\.yaml: valid\n$/,
    stderr:
      /^\S+free\.yaml:2:54: warning: receivers\.trace_batch\/spare: is not used: no pipeline lists it\n$/,
  });
});

void t.test('components, schema and graph print machine-readable output', async (t) => {
  const components = JSON.parse((await runInProcess(['components', '--json'])).stdout) as {
    kind: string;
    type: string;
  }[];
  for (const [kind, type] of [
    ['receiver', 'trace_batch'],
    ['processor', 'validation'],
    ['exporter', 'storage'],
    ['extension', 'health'],
  ] as const)
    t.ok(
      components.some((component) => component.kind === kind && component.type === type),
      type,
    );
  t.match(
    (await runInProcess(['components'])).stdout,
    /^KIND +TYPE +SIGNALS +PLACEMENT +STABILITY +DESCRIPTION\n/,
  );
  t.match(JSON.parse((await runInProcess(['schema'])).stdout), {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { receivers: { patternProperties: { '^trace_batch(/.+)?$': {} } } },
  });
  const folder = t.testdir({
    'one.yaml': `receivers: { trace_batch: {} }
processors: { validation: {} }
exporters: { storage: {} }
extensions: { duckdb: { path: ./jackdaw.duckdb }, sqlite: {} }
service:
  extensions: [sqlite, duckdb]
  intake: { threads: 1 }
  pipelines: { traces: { receivers: [trace_batch], processors: [validation], exporters: [storage] } }
`,
  });
  const config = ['--config', join(folder, 'one.yaml')];
  t.equal(
    (await runInProcess(['graph', ...config])).stdout,
    `flowchart LR
  r0(["trace_batch"])
  subgraph s0["traces (intake threads)"]
    p0_0["validation"]
  end
  e0[["storage"]]
  r0 --> p0_0
  p0_0 --> e0
`,
  );
  t.equal(
    (await runInProcess(['graph', '--format', 'dot', ...config])).stdout,
    `digraph jackdaw {
  rankdir=LR;
  r0 [label="trace_batch", shape=ellipse];
  subgraph cluster_0 {
    label="traces (intake threads)";
    p0_0 [label="validation", shape=box];
  }
  e0 [label="storage", shape=box3d];
  r0 -> p0_0;
  p0_0 -> e0;
}
`,
  );
});

void t.test('the built program behaves alike in a separate process', async (t) => {
  t.match(await runCli(['version']), { code: 0, signal: null, stdout: /^jackdaw /, stderr: '' });
  t.match(await runCli(['rum']), { code: 2, stdout: '', stderr: /Did you mean run\?/ });
  const cwd = t.testdir({ 'a.yaml': 'service: 1\n' });
  t.match(await runCli(['run', '--config', 'a.yaml'], { cwd }), {
    code: 78,
    stderr: /^\{"level":"error".*"msg":"a\.yaml:1:1: error: service: must be a map/,
  });
});

void t.test('the key in the initial key file is sent to loopback addresses only', async (t) => {
  const key = `jd_${'k'.repeat(43)}`;
  const folder = t.testdir({ data: { 'initial-api-key': `${key}\n` } });
  const config = join(folder, 'jackdaw.yaml');
  const store = JSON.stringify(join(folder, 'data', 'jackdaw.control.db'));
  writeFileSync(config, `extensions: { sqlite: { path: ${store} } }\n`);
  const list = async (url: string) => await runInProcess(['users', 'list', '--url', url, '--config', config]);
  // The first address is for documentation and never contacted: no key, no connection.
  for (const url of ['http://192.0.2.1:4319', 'https://jackdaw.example', 'http://127.0.0.1.example:1'])
    t.match(await list(url), { code: 1, stderr: /No API key for .*JACKDAW_KEY.*only sent to loopback/ }, url);
  for (const url of ['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1'])
    t.match(await list(url), { code: 1, stderr: /No daemon answers at/ }, url);
});

void t.test('warns when a key is sent over plain HTTP to another machine', async (t) => {
  const env = { JACKDAW_KEY: `jd_${'k'.repeat(43)}` };
  const list = async (url: string) => await runInProcess(['users', 'list', '--url', url], env);
  // Names under this domain never resolve (RFC 6761).
  const warned = await list('http://jackdaw.invalid:4319');
  t.match(warned.stderr, /Warning: sending the API key to http:\/\/jackdaw\.invalid:4319 without encryption/);
  t.notMatch(warned.stderr, env.JACKDAW_KEY);
  t.match((await list('https://jackdaw.invalid')).stderr, /No daemon answers/);
  t.match((await list('http://127.0.0.1:1')).stderr, /No daemon answers/);
});
