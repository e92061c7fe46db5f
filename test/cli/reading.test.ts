import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LISTED_BY } from '../../src/api/support/not-found.js';
import { fitTable, type Column } from '../../src/cli/table.js';
import { startApi } from '../support/api.js';
import { runInProcess } from '../support/cli.js';
import { gaugeRequest } from '../support/gauge-request.js';
import { logRequest } from '../support/log-request.js';
import { testFolder } from '../support/test-folder.js';
import { anItem, aSpan } from '../support/trace-batch.js';

void t.test('reads runs, logs, metrics and prompts as tables and as JSON', async (t) => {
  const api = await startApi(t);
  const env = { JACKDAW_URL: api.url, JACKDAW_KEY: (await api.createKey(['read'])).key };
  const run = (...args: string[]) => runInProcess(args, env);
  const json = async (...args: string[]) => JSON.parse((await run(...args)).stdout) as object;

  t.match(await run('runs', '--no-json'), { code: 0, stdout: '', stderr: 'No run matches.\n' });
  t.match(await run('metrics', '--no-json'), { code: 0, stdout: '', stderr: 'There are no metrics.\n' });
  t.match(await run('prompts', '--no-json'), { code: 0, stdout: '', stderr: 'There are no prompts.\n' });

  const item = anItem({
    trace: { agent: 'night \u001b[31m porter', status: 'failed', error_message: 'door is locked' },
    spans: 0,
  });
  const id = item.trace['trace_id'] as string;
  const [root, child] = [
    aSpan(id, { name: 'round' }),
    aSpan(id, { name: 'try door', metadata: { door: '7' } }),
  ];
  await api.send([
    { ...item, spans: [root, { ...child, parent_span_id: root['span_id'] ?? null }] },
    anItem(),
  ]);
  const nanos = BigInt(Date.now()) * 1_000_000n;
  const log = { body: 'key is missing', nanos, severity: 17, attributes: { 'door.id': '7' } };
  const other = { body: 'key is back', nanos, severity: 9 };
  await api.call('POST', '/otlp/v1/logs', { json: logRequest('hotel', [log, other]) });
  const point = { name: 'doors.open', value: 3, nanos, attributes: { floor: '1' } };
  await api.call('POST', '/otlp/v1/metrics', { json: gaugeRequest('hotel', [point]) });
  for (const version of [1, 2])
    await api.call('POST', '/dashboard/prompts', {
      json: { name: 'greeting', version, template_text: `Hi ${version}` },
    });

  const score = { trace_id: id, name: 'tone', value: 0.25, label: 'rude', comment: 'no greeting' };
  await api.call('POST', '/scores', { json: { scores: [score] } });

  const listed = await run('runs', '--agent', 'NIGHT \u001b[31m PORTER', '--status', 'failed', '--no-json');
  t.match(
    listed.stdout,
    new RegExp(
      `^STARTED +STATUS .*\n2026-11-03T08:15:30 +failed +night .*porter .*${id} +door is locked +tone 0\\.25 rude\n$`,
    ),
  );
  t.notMatch(listed.stdout, '\u001b');
  t.match(await json('runs', '--limit', '1'), { items: [{}], has_more: true });
  t.match(await json('runs', '--success'), { items: { length: 2 } });
  t.match(await json('runs', '--no-success'), { items: { length: 0 } });
  t.match(await json('runs', '--score', 'tone<0.5', '--score', 'tone=rude'), {
    items: { length: 1, 0: { trace_id: id, scores: [{ name: 'tone', mean: 0.25 }] } },
  });
  t.match(await json('runs', '--score', 'tone>=0.5'), { items: { length: 0 } });
  t.match(await json('runs', '--metadata', 'plan=$&'), { items: { length: 0 } });
  const byKey = async (...conditions: string[]) =>
    json('runs', ...conditions.flatMap((condition) => ['--attribute', condition]));
  t.match(await byKey('door=7', 'door~=7'), { items: { length: 1, 0: { trace_id: id } }, count: null });
  t.match(await byKey('door=8'), { items: { length: 0 }, searched_back_to: null });
  t.match(await byKey('door!=7'), { items: { length: 1 } });
  t.match(await run('runs', '--score', 'tone<'), { code: 2, stderr: /--score must be a condition such as/ });
  const found = await run('runs', '--query', 'locked', '--no-json');
  t.match(found.stdout, id);
  const shown = await run('runs', id.replaceAll('-', ''), '--no-json');
  t.match(shown.stdout, /^llm round .*\n {2}llm try door +completed +1\.250 s +model-one +120 +\$0\.00125 /m);
  t.match(shown.stderr, /door is locked\nscore tone 0\.25 rude: no greeting\n$/);
  t.match(await json('runs', id), { trace_id: id, spans: { length: 2 } });

  t.match(
    (await run('search', 'locked', '--no-json')).stdout,
    new RegExp(`^run .*door is locked +${id}$`, 'm'),
  );
  t.match((await run('search', 'greet', '--no-json')).stdout, /^prompt +greeting +-$/m);
  t.match(await json('logs', 'key', '--severity', 'error'), {
    count: 1,
    items: [{ body: 'key is missing' }],
  });
  const back = { count: 1, items: [{ body: 'key is back' }] };
  t.match(await json('logs', 'key', '-missing', '--limit', '5'), back);
  t.match(await json('logs', '--limit', '5', '--', 'key', '-"is missing"'), back);
  t.match((await run('search', 'key', '-cunning', '--no-json')).stdout, /key is missing/, 'no -c unning');
  t.match(await json('logs', '--run', id.replaceAll('-', '')), { items: [{ trace_id: id }] });
  t.match(await json('logs', '--attribute', 'door.id=7', '--since', '1h'), { count: 1 });
  t.match(
    (await run('logs', '--event', 'gen_ai.evaluation.result', '--no-json')).stdout,
    / info +- +score tone 0\.25 rude: no greeting +/,
  );
  t.match((await run('logs', '--limit', '1', '--no-json')).stderr, /^1 of 3 records\. More: --cursor \S+\n$/);
  t.match((await run('metrics', '--no-json')).stdout, /^doors\.open +gauge +s +1 /m);
  const series = await run(
    'metrics',
    'doors.open',
    '--agg',
    'max',
    '--label',
    'floor=1',
    '--group-by',
    'floor',
    '--no-json',
  );
  t.match(series.stdout, / +3 +floor=1\n$/);
  t.match(series.stderr, /^Labels of the last 7 days: floor: 1/);
  t.match((await run('prompts', 'greeting', '--no-json')).stdout, /^2 +0 +- +- +- +Hi 2\n1 +0/m);

  for (const [args, message] of [
    [['runs', 'nightly'], /'nightly' is invalid .* must be the id of a run: a UUID, or 32 hex/],
    [['logs', '--run', '12'], /'12' is invalid\. It must be the id of a run/],
    [['runs', '--agent', 'porter'], /--agent "porter" is not the name of an agent; similar: "night/],
    [['runs', '--since', 'yesterday'], /must be an ISO 8601 time .* or an age such as 90m/],
    [['runs', '--limit', '0'], /must be a whole number from 1/],
    [['logs', '--attribute', 'door'], /must be KEY=VALUE/],
    [['search', ' '], /jackdaw: <words> must not be blank/],
    [
      ['runs', ...Array.from({ length: 11 }, (_, i) => `--metadata=key${i}=a`)],
      /jackdaw: --metadata must have at most 10 entries/,
    ],
  ] as const)
    t.match(await run(...args), { code: 2, stderr: message });
  const writer = { ...env, JACKDAW_KEY: (await api.createKey(['write'])).key };
  t.match(await runInProcess(['runs'], writer), {
    code: 1,
    stderr: /lacks the scope "read"\. Use a key that has it; an administrator makes one/,
  });
  t.match(await run('prompts', 'none'), {
    code: 1,
    stderr:
      'jackdaw: There is no such prompt: list them with GET /api/v1/dashboard/prompts/names or "jackdaw prompts".\n',
  });
  const paths = new Set(api.routes.map(({ method, path }) => `${method} ${path}`));
  for (const { path, command } of Object.values(LISTED_BY)) {
    t.ok(paths.has(`GET ${path}`), path);
    const words = command?.split(' ').filter((word) => /^[a-z]/.test(word)) ?? [];
    if (words.length > 0)
      t.match(await run(...words.slice(1), '--help'), { code: 0, stdout: words.join(' ') });
  }
});

void t.test('a table is cut to its terminal, and says what it leaves out', async (t) => {
  const columns: readonly Column<readonly string[]>[] = [
    { title: 'a', show: ([a = '']) => a },
    { title: 'b', least: 4, show: ([, b = '']) => b },
    { title: 'c', least: 3, leaveOut: 1, show: ([, , c = '']) => c },
    { title: 'd', leaveOut: 2, show: ([, , , d = '']) => d },
  ];
  const row = ['12345', 'bbbbbbbb', 'cccccc', 'dd'];
  const empty: Column<readonly string[]> = { title: 'e', leaveOut: 3, show: () => null };
  t.equal(
    fitTable([...columns, empty], [row], Infinity).text.split('\n')[0],
    'A      B         C       D   E',
  );
  for (const [width, line, leftOut] of [
    [27, '12345  bbbbbbbb  cccccc  dd', []],
    [23, '12345  bbbbbb…  cc…  dd', []],
    [19, '12345  bbbbbb…  cc…', ['d']],
    [15, '12345  bbb…  dd', ['c']],
    [12, '12345  bbbb…', ['c', 'd']],
    [3, '12345  bbb…', ['c', 'd']],
  ] as const) {
    const table = fitTable([...columns, empty], [row], width);
    t.match([table.text.split('\n')[1], table.leftOut], [line, leftOut], String(width));
  }
});

const URL_OPTIONS = ['--url', 'http://127.0.0.1:4319'];
const KEY = `jd_${'k'.repeat(43)}`;

void t.test('mcp setup prints a configuration without a key', async (t) => {
  const env = { JACKDAW_KEY: KEY, HOME: testFolder(t) };
  const printed = async (client: string) => {
    const { code, stdout, stderr } = await runInProcess(['mcp', 'setup', client, ...URL_OPTIONS], env);
    t.equal(code, 0);
    t.notMatch(stdout + stderr, KEY);
    t.match(stderr, /Set JACKDAW_KEY for .*: jackdaw keys create --name \w+ --scopes read\n$/);
    return stdout;
  };
  const url = 'http://127.0.0.1:4319/mcp';
  t.same(JSON.parse(await printed('claude')), {
    mcpServers: { jackdaw: { type: 'http', url, headers: { Authorization: 'Bearer ${JACKDAW_KEY}' } } },
  });
  t.same(JSON.parse(await printed('cursor')), {
    mcpServers: { jackdaw: { url, headers: { Authorization: 'Bearer ${env:JACKDAW_KEY}' } } },
  });
  t.same(JSON.parse(await printed('gemini')), {
    mcpServers: { jackdaw: { httpUrl: url, headers: { Authorization: 'Bearer $JACKDAW_KEY' } } },
  });
  t.equal(
    await printed('codex'),
    `[mcp_servers.jackdaw]\nurl = "${url}"\nbearer_token_env_var = "JACKDAW_KEY"\n`,
  );
});

void t.test('mcp setup merges files, keeps a copy and writes keys privately', async (t) => {
  const home = testFolder(t);
  const env = { JACKDAW_KEY: KEY, HOME: home };
  const setup = (...args: string[]) => runInProcess(['mcp', 'setup', ...args, ...URL_OPTIONS], env);
  const place = (name: string, text: string): string => {
    const file = join(home, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
    return file;
  };

  const json = place(
    '.gemini/settings.json',
    '{\n    "theme": "dark",\n    "mcpServers": {"other": {"command": "x"}}\n}\n',
  );
  chmodSync(json, 0o640);
  t.match(await setup('gemini', '--user', '--write'), {
    code: 0,
    stderr: `Wrote ${json}; the old file is ${json}.bak.`,
  });
  const merged = readFileSync(json, 'utf8');
  t.match(JSON.parse(merged), { theme: 'dark', mcpServers: { other: { command: 'x' }, jackdaw: {} } });
  t.match(merged, /^ {4}"theme"/m, 'indented as before');
  t.equal(statSync(json).mode & 0o777, 0o640);
  t.match(readFileSync(`${json}.bak`, 'utf8'), /"other": \{"command": "x"\}\}\n\}\n$/);
  t.match(await setup('gemini', '--user', '--write'), { code: 0, stderr: `${json} is up to date.` });

  const toml = place(
    '.codex/config.toml',
    'model = "o3"\n\n[mcp_servers.jackdaw]\nurl = "http://old/mcp"\n\n[mcp_servers.other]\ncommand = "x"\n',
  );
  t.match(await setup('codex', '--user', '--write', '--include-key'), { code: 0, stdout: '' });
  t.equal(
    readFileSync(toml, 'utf8'),
    `model = "o3"\n\n[mcp_servers.jackdaw]\nurl = "http://127.0.0.1:4319/mcp"\nhttp_headers = { Authorization = "Bearer ${KEY}" }\n\n[mcp_servers.other]\ncommand = "x"\n`,
  );
  t.equal(statSync(toml).mode & 0o777, 0o600, 'a key is for its owner');

  const real = place('elsewhere.json', '{}');
  symlinkSync(real, join(home, '.claude.json'));
  t.match(await setup('claude', '--user', '--write'), { code: 0 });
  t.match(JSON.parse(readFileSync(real, 'utf8')), { mcpServers: { jackdaw: { type: 'http' } } });

  const broken = place('comments.json', '// mine\n{}');
  t.match(await setup('cursor', '--write', '--file', broken), {
    code: 1,
    stderr: /comments\.json is not plain JSON: add the server by hand/,
  });
  t.equal(readFileSync(broken, 'utf8'), '// mine\n{}');
  t.notOk(existsSync(`${broken}.bak`));
  const inline = place('inline.toml', 'mcp_servers = { a = { url = "b" } }\n');
  t.match(await setup('codex', '--write', '--file', inline), {
    code: 1,
    stderr: /cannot be merged: add the server by hand/,
  });
  t.match(await setup('claude', '--include-key'), { code: 2, stderr: /--include-key needs --write/ });
  t.match(await setup('emacs'), { code: 2, stderr: /Allowed choices are claude, codex, cursor, gemini/ });
});
