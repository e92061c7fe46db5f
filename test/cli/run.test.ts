import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { formatBanner } from '../../src/cli/banner.js';
import { runCli, spawnDaemon } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';

interface Answer {
  readonly accepted: number;
  readonly rejected: number;
}

function bodyOf(traceId: string): string {
  const times = { started_at: '2026-01-15T12:00:00Z', ended_at: '2026-01-15T12:00:01Z' };
  const spans = [{ span_id: traceId, trace_id: traceId, type: 'llm', name: 'chat', ...times }];
  return JSON.stringify({ traces: [{ trace: { trace_id: traceId, agent: 'load', ...times }, spans }] });
}

const uuidOf = (index: number) => `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;

void t.test('the command in the banner sends a first trace with the generated key', async (t) => {
  const directory = testFolder(t);
  const daemon = await spawnDaemon(t, { directory, generatesKey: true });
  const keyFile = join(directory, 'initial-api-key');
  t.equal(statSync(keyFile).mode & 0o777, 0o600);
  const key = readFileSync(keyFile, 'utf8').trim();
  t.notMatch(daemon.stderr(), key, 'the key is never logged');
  t.equal(daemon.stdout(), '', 'no banner without a terminal');
  const lines = daemon.stderr().trim().split('\n');
  t.match(JSON.parse(lines.at(-1) ?? ''), {
    msg: 'Running',
    api: `${daemon.url}/api/v1`,
    initial_key_file: keyFile,
  });
  const paths = new Map([[daemon.url, ['/api/v1/traces/batch']]]);
  const banner = formatBanner({
    ...{ version: '1', isAuthEnabled: true, loginLink: null, now: new Date() },
    daemon: { paths, initialKeyFile: keyFile },
  });
  const command = /^curl [^]*\}'$/m.exec(banner)?.[0] ?? '';
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: directory });
  t.match(JSON.parse(stdout), { accepted: 1, rejected: 0 });
  t.strictSame(await daemon.stop('SIGINT'), { code: 0, signal: null });
});

void t.test('SIGTERM under load stores everything accepted and exits with 0', async (t) => {
  const first = await spawnDaemon(t);
  const { directory, key } = first;
  const accepted: string[] = [];
  let isStopping = false;
  let next = 0;
  const send = async (): Promise<void> => {
    while (!isStopping) {
      const traceId = uuidOf((next += 1));
      try {
        const response = await fetch(`${first.url}/api/v1/traces/batch`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: bodyOf(traceId),
        });
        if (response.status !== 200) {
          t.equal(response.status, 503, 'rejected as retryable while stopping');
          return;
        }
        const { accepted: count } = (await response.json()) as Answer;
        if (count === 1) accepted.push(traceId);
      } catch {
        // The connection was refused: the daemon has stopped.
        return;
      }
      if (accepted.length === 200) void first.stop('SIGTERM');
    }
  };
  const senders = Array.from({ length: 8 }, send);
  t.strictSame(await first.exited, { code: 0, signal: null });
  isStopping = true;
  await Promise.all(senders);
  t.ok(accepted.length >= 200);

  const second = await spawnDaemon(t, { directory, key });
  const stored = await fetch(`${second.url}/api/v1/dashboard/traces?page_size=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { count } = (await stored.json()) as { readonly count: number };
  t.ok(count >= accepted.length, 'nothing accepted is lost');
  for (const traceId of accepted.filter((_, index) => index % 20 === 0)) {
    const response = await fetch(`${second.url}/api/v1/dashboard/traces/${traceId}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    t.equal(response.status, 200, traceId);
    await response.body?.cancel();
  }
  t.strictSame(await second.stop(), { code: 0, signal: null });
});

void t.test('a second signal ends a hanging stop', async (t) => {
  const plugin = `export default { name: 'hanging', apiVersion: 1, factories: [{
    kind: 'extension', type: 'hanging', description: 'x', stability: 'alpha',
    configSchema: { type: 'object', properties: {}, additionalProperties: false },
    create: () => ({ shutdown: () => new Promise(() => {}) }),
  }] };`;
  const overlay = `plugins: [./hanging.mjs]
extensions: { hanging: {} }
service: { extensions: [sqlite, duckdb, query, health, hanging], shutdown_timeout: 1h }
`;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const directory = t.testdir({ 'hanging.mjs': plugin });
    const daemon = await spawnDaemon(t, { directory, overlay });
    daemon.child.kill('SIGTERM');
    await daemon.logged(/new requests are refused/);
    // Later than the duplicate of a Ctrl-C passed on by npm.
    await new Promise((resolve) => setTimeout(resolve, 150));
    t.strictSame(await daemon.stop(signal), { code, signal: null }, signal);
  }
});

void t.test('Ctrl-C under npm arrives twice and still stops cleanly', async (t) => {
  const daemon = await spawnDaemon(t);
  daemon.child.kill('SIGINT');
  await daemon.logged(/a second signal ends/);
  t.strictSame(await daemon.stop('SIGINT'), { code: 0, signal: null });
});

void t.test('SIGHUP reloads; SIGTERM turns readiness off while listeners stay open', async (t) => {
  const daemon = await spawnDaemon(t, { overlay: 'service: { shutdown_delay: 1h }' });
  const health = async (...more: string[]) => runCli(['health', '--url', daemon.healthUrl, ...more]);
  daemon.child.kill('SIGHUP');
  await daemon.logged(/Reloaded: the configuration has not changed/);
  t.match(await health(), { code: 0, stdout: /^ready/ });
  daemon.child.kill('SIGTERM');
  await daemon.logged(/listeners stay open for service\.shutdown_delay/);
  const answer = await fetch(`${daemon.healthUrl}/readyz`);
  t.equal(answer.status, 503);
  const read = await fetch(`${daemon.url}/api/v1/agents`, {
    headers: { authorization: `Bearer ${daemon.key}` },
  });
  t.equal(read.status, 200);
  t.match(await health(), { code: 1, stdout: /^not_ready/ });
  t.equal((await daemon.stop('SIGTERM')).code, 143, 'a second signal ends the delay');
  t.match(await health('--timeout', '1s'), { code: 1, stderr: /reports no health: .*ECONNREFUSED/ });
});

void t.test('a fatal component stops the daemon cleanly with exit code 1', async (t) => {
  const plugin = `export default { name: 'dying', apiVersion: 1, factories: [{
    kind: 'extension', type: 'dying', description: 'x', stability: 'alpha',
    configSchema: { type: 'object', properties: {}, additionalProperties: false },
    create: () => ({
      async start(host) {
        process.once('SIGUSR2', () => host.reportStatus({ level: 'fatal', message: 'the disk burns' }));
      },
    }),
  }] };`;
  const overlay = `plugins: [./dying.mjs]
extensions: { dying: {} }
service: { extensions: [sqlite, duckdb, query, health, dying] }
`;
  const daemon = await spawnDaemon(t, { directory: t.testdir({ 'dying.mjs': plugin }), overlay });
  t.strictSame(await daemon.stop('SIGUSR2'), { code: 1, signal: null });
  t.match(daemon.stderr(), /Stopped because extension .+dying.+ is fatal: the disk burns/);
});

void t.test('ports in use are reported with their keys, and the exit code is 1', async (t) => {
  const [port, metricsPort] = await Promise.all(
    [1, 2].map(async () => {
      const server = createServer().listen(0, '127.0.0.1');
      t.teardown(() => server.close());
      await once(server, 'listening');
      const address = server.address();
      return typeof address === 'object' ? (address?.port ?? 0) : 0;
    }),
  );
  const cwd = t.testdir({
    'a.yaml': `extensions: { health: { endpoint: "127.0.0.1:${port}" }, duckdb: { path: ./x.duckdb }, sqlite: { path: ./x.db } }
receivers: { trace_batch: { endpoint: 127.0.0.1:0 } }
exporters: { storage: {} }
service:
  extensions: [health, sqlite, duckdb]
  pipelines: { traces: { receivers: [trace_batch], exporters: [storage] } }
  telemetry: { metrics: { endpoint: "127.0.0.1:${metricsPort}" } }
`,
  });
  const result = await runCli(['run', '--config', 'a.yaml'], { cwd });
  t.match(result, { code: 1, stdout: '' });
  t.match(JSON.parse(result.stderr.trim().split('\n').at(-1) ?? ''), {
    level: 'error',
    msg: [
      `extensions.health.endpoint: port ${port} is taken; stop the process that listens on 127.0.0.1:${port}, or choose another port`,
      `service.telemetry.metrics.endpoint: port ${metricsPort} is taken; stop the process that listens on 127.0.0.1:${metricsPort}, or choose another port`,
    ].join('\n'),
  });
  t.strictSame(readdirSync(cwd), ['a.yaml'], 'creates neither a store nor a key');
});
