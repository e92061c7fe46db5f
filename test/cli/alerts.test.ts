import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { COMPOSITE, HOOK_URL, makeAgent, makeAlert, UNWATCHED } from '../support/alert-calls.js';
import { startApi } from '../support/api.js';
import { runInProcess, type CommandOutput } from '../support/cli.js';

async function started(t: Test) {
  const api = await startApi(t, UNWATCHED);
  const env = { JACKDAW_URL: api.url, JACKDAW_KEY: api.adminKey };
  const alerts = (...args: string[]): Promise<CommandOutput> => runInProcess(['alerts', ...args], env);
  return { api, alerts };
}

void t.test('lists alerts as text and JSON', async (t) => {
  const { api, alerts } = await started(t);
  t.match(await alerts('list'), { code: 0, stdout: '', stderr: /^There are no alerts\./ });
  t.match(await alerts('list', '--json'), { code: 0, stdout: '[]\n' });
  const agent_id = await makeAgent(api, 'red \u001b[31m');
  const first = await makeAlert(api, { agent_id, threshold: 0.25 });
  const second = await makeAlert(api, {
    name: 'budget',
    type: 'composite',
    channel: 'both',
    webhook_url: HOOK_URL,
    cooldown_minutes: 5,
    composite_config: COMPOSITE,
  });
  await api.call('PATCH', `/alerts/${first.id}`, { json: { is_active: false } });
  const { code, stdout } = await alerts('list');
  t.equal(code, 0);
  const [heading, ...rows] = stdout.trimEnd().split('\n');
  t.match(heading, /^ID +NAME +TYPE +AGENT +SERVICE +THRESHOLD +COOLDOWN +CHANNEL +ACTIVE +LAST FIRED$/);
  t.equal(rows.length, 2);
  t.match(rows[0], new RegExp(`^${second.id} +budget +composite +- +payments +- +5 min +both +yes +-$`));
  t.match(rows[1], new RegExp(`^${first.id} +- +failure_rate +red .*31m +- +0\\.25 +60 min +email +no +-$`));
  t.notMatch(stdout, '\u001b');
  t.notMatch(stdout, HOOK_URL, 'hides values that may contain secrets');
  t.match(JSON.parse((await alerts('list', '--json')).stdout), [second, { id: first.id, is_active: false }]);
});

void t.test('tests an alert', async (t) => {
  const { api, alerts } = await started(t);
  const agent_id = await makeAgent(api);
  const { id } = await makeAlert(api, { agent_id, threshold: 0 });
  const trial = await alerts('test', id);
  t.equal(trial.code, 0);
  t.match(
    trial.stdout,
    /^TYPE +METRIC +OPERATOR +THRESHOLD +OBSERVED +MET\nfailure_rate +- +gt +0 +0 +no\n1 sample from 20\S+Z to 20\S+Z\.\nNot met: /,
  );
  t.match(trial.stderr, /^This daemon does not evaluate alerts/);
  const json = JSON.parse((await alerts('test', id.toUpperCase(), '--json')).stdout) as object;
  t.match(json, { value: 0, threshold: 0, unit: 'ratio', sample_count: 1, verdict: 'not_met' });

  const alerting = { windowMs: 60_000, minSamples: 1, timezone: 'UTC' };
  await api.control.settings.publish('who evaluates', { alerting }, Number.MAX_SAFE_INTEGER);
  const composite = await makeAlert(api, { type: 'composite', composite_config: COMPOSITE });
  t.match(await alerts('test', composite.id), {
    code: 0,
    stdout: /\nmetric_threshold +queue +gte +10 +- +no\n0 samples [^]*\nNo data: /,
    stderr: /^$/,
  });
  await api.control.settings.withdraw('who evaluates');
  const met = await makeAlert(api, { agent_id, type: 'latency_threshold', threshold: 0 });
  t.match(await alerts('test', met.id), { code: 0, stdout: /\nMet: the alert fires now, unless / });
  t.match(await api.get(`/alerts/${met.id}/events`), { count: 0 });
});

void t.test('rejects unknown alerts and missing scopes', async (t) => {
  const { api, alerts } = await started(t);
  t.match(await alerts('test', randomUUID()), { code: 1, stdout: '', stderr: /There is no such alert/ });
  t.match(await alerts('test', 'x'), { code: 2, stderr: /invalid for argument 'id'\. It must be an id/ });
  t.match(await alerts('test'), { code: 2, stderr: /missing required argument 'id'/ });
  t.match(await alerts('lst'), { code: 2, stderr: /unknown command 'lst'/ });
  const { key } = await api.createKey(['write']);
  t.match(await alerts('list', '--key', key), { code: 1, stderr: /lacks the scope "read"/ });
});
