import { randomUUID } from 'node:crypto';
import t from 'tap';
import { aRecentRun, COMPOSITE, makeAgent, UNWATCHED } from '../../../support/alert-calls.js';
import { startApi } from '../../../support/api.js';

interface Preview {
  readonly now: { readonly value: number | null; readonly verdict: string; readonly is_evaluated: boolean };
  readonly points: readonly (readonly [number, number | null])[];
  readonly conditions: readonly (readonly (number | null)[])[];
  readonly firings: readonly { readonly fired_at: string; readonly value: number | null }[];
  readonly step_seconds: number;
}

void t.test('previews a rule over past data without creating an alert', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const agent = 'failing';
  const hour = 3_600_000;
  const ago = (hours: number) => {
    const at = new Date(Date.now() - hours * hour).toISOString();
    return aRecentRun({ agent, success: false, status: 'failed', started_at: at, ended_at: at });
  };
  await api.send([ago(5), ago(5)]);
  const agent_id = await makeAgent(api, agent);
  const preview = async (alert: object, hours?: number) => {
    const json = { alert, ...(hours === undefined ? {} : { hours }) };
    return await api.call('POST', '/alerts/preview', { json });
  };
  const rate = { agent_id, type: 'failure_rate', threshold: 0.5 };
  const { status, body } = await preview(rate, 6);
  t.equal(status, 200);
  const found = body as Preview;
  t.match(found.now, { value: 0, verdict: 'not_met', is_evaluated: false });
  t.equal(found.step_seconds, 60);
  t.equal(found.points.length, 361);
  t.equal(Math.max(...found.points.map(([, value]) => value ?? 0)), 1);
  t.ok(found.points.some(([, value]) => value === null));
  t.same(found.conditions, [found.points.map(([, value]) => value)], 'the values of the only condition');
  t.equal(found.firings.length, 1);
  const firedAt = Date.parse(found.firings[0]?.fired_at ?? '');
  t.ok(Math.abs(Date.now() - 5 * hour - firedAt) < 2 * 180_000, 'at the time of the failed runs');

  t.match((await preview(rate)).body, { step_seconds: 180, firings: [{ value: 1 }] });
  t.match((await preview({ ...rate, window_minutes: 1440 }, 6)).body, {
    now: { verdict: 'met' },
    step_seconds: 1440,
  });
  t.match((await preview({ ...rate, min_samples: 3 }, 6)).body, { firings: [] });
  t.match((await preview({ ...rate, agent_id: undefined, all_agents: true }, 6)).body, {
    firings: [{ value: 1 }],
  });
  t.match((await preview(rate, 1)).body, { step_seconds: 60, firings: [] });
  t.match((await preview({ ...rate, threshold: 1 }, 6)).body, { firings: [] });
  t.match((await preview({ ...rate, type: 'inactivity', threshold: 2 }, 6)).body, { firings: [{}] });
  t.match((await preview({ ...rate, type: 'cost_threshold', threshold: 1e6 }, 168)).body, { firings: [] });
  const composite = { agent_id, type: 'composite', composite_config: COMPOSITE };
  t.match(((await preview(composite)).body as Preview).conditions.length, 2);
  t.match((await preview({ ...rate, agent_id: undefined, target_service: 'x' })).body, {
    now: { verdict: 'no_data' },
  });

  t.equal((await preview({ ...rate, agent_id: randomUUID() })).status, 404);
  t.equal((await preview({ ...rate, threshold: undefined })).status, 422);
  t.equal((await preview(rate, 169)).status, 422);
  t.equal((await preview(rate, 0)).status, 422);
  const { key } = await api.createUser('other@example.com', ['read']);
  t.equal((await api.call('POST', '/alerts/preview', { key, json: { alert: rate } })).status, 404);
  t.same(await api.get('/alerts'), [], 'no alert created');
});
