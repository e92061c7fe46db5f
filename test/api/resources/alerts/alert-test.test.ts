import { randomUUID } from 'node:crypto';
import t from 'tap';
import { aRecentRun, COMPOSITE, makeAgent, makeAlert, UNWATCHED } from '../../../support/alert-calls.js';
import { startApi, type TestApi } from '../../../support/api.js';
import { gaugeRequest } from '../../../support/gauge-request.js';

const HOUR = 3_600_000;

interface Trial {
  readonly value: number | null;
  readonly threshold: number;
  readonly unit: string | null;
  readonly sample_count: number;
  readonly verdict: string;
  readonly window: { readonly from: string; readonly to: string };
  readonly conditions: readonly object[];
  readonly is_evaluated: boolean;
  readonly can_mail: boolean;
}

async function tried(api: TestApi, id: string): Promise<Trial> {
  const answer = await api.call('POST', `/alerts/${id}/test`);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer));
  return answer.body as Trial;
}

/** An agent with one successful and three failed runs, each costing 0.00125 dollars. */
async function failingAgent(api: TestApi): Promise<string> {
  const agent = 'failing';
  await api.send(Array.from({ length: 3 }, () => aRecentRun({ agent, success: false, duration_ms: 250 })));
  return await makeAgent(api, agent);
}

void t.test('testing an alert returns its value and fires nothing', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const agent_id = await failingAgent(api);
  const cases = [
    ['failure_rate', 0.7, 'ratio', 0.75, 4, 'met'],
    ['failure_rate', 0.75, 'ratio', 0.75, 4, 'not_met'],
    ['failure_rate', 1, 'ratio', 0.75, 4, 'not_met'],
    ['latency_threshold', 1e6, 'ms', undefined, 4, 'not_met'],
    ['latency_threshold', 1, 'ms', undefined, 4, 'met'],
    ['inactivity', 1, 'hours', undefined, undefined, 'not_met'],
  ] as const;
  for (const [type, threshold, unit, value, sample_count, verdict] of cases) {
    const { id } = await makeAlert(api, { agent_id, type, threshold });
    const trial = await tried(api, id);
    const name = `${type} ${threshold}`;
    t.match(trial, { threshold, unit, verdict, is_evaluated: false }, name);
    if (value !== undefined) t.equal(trial.value, value, name);
    if (sample_count !== undefined) t.equal(trial.sample_count, sample_count, name);
    t.strictSame(trial.conditions, [
      { type, source: 'ai', threshold, observed: trial.value, met: verdict === 'met' },
    ]);
    t.match(trial.window, { from: /^20.*Z$/, to: /^20.*Z$/ });
    if (type !== 'inactivity')
      t.equal(Date.parse(trial.window.to) - Date.parse(trial.window.from), HOUR, 'the default window');
    t.match(await api.get(`/alerts/${id}`), { last_fired_at: null });
    t.match(await api.get(`/alerts/${id}/events`), { count: 0 });
  }
  const { id } = await makeAlert(api, { agent_id, threshold: 0 });
  await api.call('PATCH', `/alerts/${id}`, { json: { is_active: false } });
  t.match(await tried(api, id), { verdict: 'met' }, 'also when paused');
});

void t.test('an unknown target has no data', async (t) => {
  const api = await startApi(t, UNWATCHED);
  for (const type of ['failure_rate', 'latency_threshold', 'inactivity', 'cost_threshold'])
    t.match(await tried(api, (await makeAlert(api, { target_service: 'nowhere', type })).id), {
      value: null,
      sample_count: 0,
      verdict: 'no_data',
      conditions: [{ observed: null, met: false }],
    });
});

void t.test('a composite test returns every condition', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const agent_id = await failingAgent(api);
  const compositeOf = async (operator: string) =>
    (await makeAlert(api, { agent_id, type: 'composite', composite_config: { ...COMPOSITE, operator } })).id;
  const [both, any] = [await compositeOf('and'), await compositeOf('or')];
  const [runs, metric] = COMPOSITE.conditions;
  const unknown = { ...metric, observed: null, met: false };
  const failing = { ...runs, observed: 0.75, met: true };
  t.match(await tried(api, any), { verdict: 'met', conditions: [failing, unknown] });
  t.notMatch(await tried(api, both), { verdict: 'met' });

  const nanos = BigInt(Date.now()) * 1_000_000n;
  const points = [{ name: 'queue', value: 10, nanos, attributes: {} }];
  await api.call('POST', '/otlp/v1/metrics', { json: gaugeRequest('shop', points) });
  t.match(await tried(api, both), {
    value: null,
    threshold: 0,
    unit: null,
    verdict: 'met',
    conditions: [failing, { ...metric, observed: 10, met: true }],
  });
});

void t.test('a test uses the settings of the evaluator', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const agent_id = await failingAgent(api);
  const { id } = await makeAlert(api, { agent_id, threshold: 0.5 });
  const alerting = { windowMs: 2 * HOUR, minSamples: 5, timezone: 'UTC' };
  const published = { alerting, canMail: true };
  await api.control.settings.publish('who evaluates', published, Number.MAX_SAFE_INTEGER);
  const trial = await tried(api, id);
  t.match(trial, { value: null, verdict: 'no_data', is_evaluated: true, can_mail: true });
  t.equal(Date.parse(trial.window.to) - Date.parse(trial.window.from), 2 * HOUR);
  await api.control.settings.withdraw('who evaluates');
  t.match(await tried(api, id), { value: 0.75, verdict: 'met', is_evaluated: false, can_mail: false });
});

void t.test('sends a test through the channels of an alert', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const agent_id = await failingAgent(api);
  const { id } = await makeAlert(api, { agent_id, threshold: 0.5 });
  const { status, body } = await api.call('POST', `/alerts/${id}/send-test`);
  t.equal(status, 202);
  t.match(body, { value: 0.75, threshold: 0.5, is_test: true, notifications: [{ channel: 'email' }] });
  t.match(await api.get(`/alerts/${id}`), { last_fired_at: null });
  t.match(await api.get(`/alerts/${id}/events`), { items: [{ is_test: true }], count: 1 });
  t.match(await api.call('POST', `/alerts/${randomUUID()}/send-test`), { status: 404 });
});
