import t, { type Test } from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess, type CommandOutput } from '../support/cli.js';
import { startTestDaemon } from '../support/daemon.js';
import { anItem } from '../support/trace-batch.js';

const WITHOUT_MAP = JSON.stringify({ service: { pipelines: { traces: { processors: ['validation'] } } } });

/** A daemon with a trace that has no map yet, and the command. */
async function started(t: Test) {
  const { url, key, daemon } = await startTestDaemon(t, { overlay: WITHOUT_MAP });
  const api = new ApiCaller(url, key);
  const traces = [anItem({ spans: 3 })];
  t.equal((await api.call('POST', '/traces/batch', { json: { traces } })).status, 200);
  const rebuild = (...args: string[]): Promise<CommandOutput> =>
    runInProcess(['map', 'rebuild', ...args], { JACKDAW_URL: url, JACKDAW_KEY: key });
  const shown = async (): Promise<number> =>
    (await api.get<{ nodes: unknown[] }>('/dashboard/service-map/?hours=0')).nodes.length;
  return { api, daemon, rebuild, shown };
}

void t.test('a rebuild reports differences and corrects them, except in a dry run', async (t) => {
  const { rebuild, shown } = await started(t);
  const dry = await rebuild('--dry-run');
  t.equal(dry.code, 1);
  t.match(dry.stdout, /^Checked 1 trace with 3 spans in \d+\.\d s\.\nNot in the map: 1 trace\.\n/);
  t.match(dry.stdout, /\n {2}User \S+, trace \S+ was not in the map\.\nNothing was changed\.\n$/);
  t.equal(await shown(), 0);

  const json = await rebuild('--dry-run', '--json');
  t.equal(json.code, 1);
  t.match(JSON.parse(json.stdout), {
    dry_run: true,
    traces: 1,
    spans: 3,
    unmapped_traces: 1,
    differing_spans: 0,
    differing_sums: 0,
    corrected: false,
  });

  t.match(await rebuild(), { code: 0, stdout: /All differences were corrected\.\n$/, stderr: '' });
  t.ok((await shown()) > 0);
  for (const args of [['--dry-run'], []]) {
    t.match(await rebuild(...args), { code: 0, stdout: /^Checked .*\nNothing differs\.\n$/ });
  }
});

void t.test('missing permission and an unreachable daemon are reported', async (t) => {
  const { api, rebuild } = await started(t);
  for (const scope of ['read', 'write', 'manage'] as const) {
    const { key } = await api.createKey([scope]);
    t.match(await rebuild('--key', key), { code: 1, stdout: '', stderr: /lacks the scope "admin"/ });
    t.equal((await api.call('POST', '/admin/service-map/rebuild?dry_run=true', { key })).status, 403);
  }
  t.match(await rebuild('--url', 'http://127.0.0.1:1'), { code: 1, stderr: /No daemon answers at/ });
  t.match(await rebuild('--dryrun'), { code: 2, stderr: /unknown option '--dryrun'/ });
  t.match(await rebuild('--help'), { code: 0, stdout: /1 {4}differences with --dry-run/ });
});

void t.test('stopping the daemon ends a rebuild cleanly', async (t) => {
  const { daemon, rebuild } = await started(t);
  const rebuilding = rebuild();
  const [{ code }, { errors }] = await Promise.all([rebuilding, daemon.shutdown()]);
  t.ok(code === 0 || code === 1);
  t.strictSame(errors, []);
});
