import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { sql } from 'kysely';
import { openPostgres } from '../../../../src/storage/control/postgres/open-postgres.js';
import { openSqlite } from '../../../../src/storage/control/sqlite/open-sqlite.js';
import { systemClock } from '../../../../src/telemetry/system-clock.js';
import {
  COMPOSITE,
  HOOK_URL,
  makeAgent,
  makeAlert,
  type AlertJson,
  UNWATCHED,
} from '../../../support/alert-calls.js';
import { startApi, type TestApi } from '../../../support/api.js';
import { databaseOf } from '../../../support/postgres-config.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const MISSING = { status: 404, body: { code: 'not_found', detail: /^There is no such alert:/ } };

/** The maximum per user. */
const MAX_ALERTS = 1000;

const CHANNELS: readonly object[] = [
  { channel: 'email' },
  { channel: 'email', webhook_url: HOOK_URL },
  { channel: 'webhook', webhook_url: `${HOOK_URL}?token=a%20b` },
  { channel: 'both', webhook_url: `https://example.com/${'x'.repeat(2028)}` },
];

void t.test('every route returns all fields as sent', async (t) => {
  const api = await startApi(t, UNWATCHED);
  t.strictSame(await api.get('/alerts'), []);
  const agent_id = await makeAgent(api, 'night watch');
  const kinds: readonly object[] = [
    { agent_id, type: 'failure_rate', threshold: 0 },
    { agent_id: agent_id.toUpperCase(), type: 'failure_rate', threshold: 1 },
    { agent_id, type: 'inactivity', threshold: 0.1, cooldown_minutes: 0.5 },
    { target_service: ' ä/😀\0 ', type: 'inactivity', threshold: 87_600, cooldown_minutes: 525_600 },
    { agent_id, type: 'cost_threshold', threshold: 1.005 },
    { target_service: 'x'.repeat(1024), type: 'cost_threshold', threshold: 999_999_999 },
    { agent_id, type: 'latency_threshold', threshold: 0.1 + 0.2 },
    { agent_id, type: 'latency_threshold', threshold: 5e-324 },
    { agent_id, type: 'composite', composite_config: COMPOSITE },
    { target_service: 'db', type: 'composite', composite_config: fullComposite() },
    { all_agents: true, type: 'cost_threshold', threshold: 5, name: 'monthly budget' },
    { agent_id, type: 'failure_rate', threshold: 0.5, window_minutes: 1440, min_samples: 20 },
  ];
  const made: AlertJson[] = [];
  for (const [index, kind] of kinds.entries()) {
    const body = { ...kind, ...CHANNELS[index % CHANNELS.length] };
    const alert = await makeAlert(api, { target_service: undefined, ...body });
    const { id, created_at, ...rest } = alert;
    t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    t.match(created_at, /^20.*Z$/);
    const isOfAgent = 'agent_id' in kind;
    t.strictSame(rest, {
      name: null,
      agent_id: null,
      all_agents: false,
      target_service: null,
      window_minutes: null,
      min_samples: null,
      threshold: 0,
      cooldown_minutes: 60,
      webhook_url: null,
      composite_config: null,
      score_config: null,
      ...body,
      ...(isOfAgent ? { agent_id } : {}),
      agent_name: isOfAgent ? 'night watch' : null,
      is_active: true,
      is_firing: false,
      last_fired_at: null,
    });
    t.strictSame(await api.get(`/alerts/${id.toUpperCase()}/`), alert);
    made.unshift(alert);
  }
  t.strictSame(await api.get('/alerts'), made, 'newest first');
  const { key: reader } = await api.createKey(['read']);
  const masked = made.map(({ webhook_url: url, ...alert }) => ({
    ...alert,
    webhook_url: url && `${new URL(url).origin}/…`,
  }));
  t.match(await api.get('/alerts', reader), masked, 'users who may change alerts see full URLs');
  t.match(await api.get(`/alerts/${made[0]?.id ?? ''}`, reader), masked[0] ?? {});

  await api.stop();
  const again = await startApi(t, { ...UNWATCHED, directory: api.directory, key: api.adminKey });
  t.strictSame(await again.get('/alerts'), made);
});

void t.test('null equals omitted, and defaults apply', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const json = {
    agent_id: null,
    target_service: 'a',
    type: 'composite',
    threshold: null,
    cooldown_minutes: null,
    channel: null,
    webhook_url: null,
    composite_config: {
      operator: 'or',
      conditions: COMPOSITE.conditions.map((condition) => ({
        threshold: null,
        metric_name: null,
        operator: null,
        value: null,
        ...condition,
      })),
    },
  };
  t.match(await api.call('POST', '/alerts', { json }), {
    status: 201,
    body: {
      threshold: 0,
      cooldown_minutes: 60,
      channel: 'email',
      webhook_url: null,
      composite_config: { ...COMPOSITE, operator: 'or' },
    },
  });
  const unused = await makeAlert(api, { type: 'composite', threshold: 0.5, composite_config: COMPOSITE });
  t.equal(unused.threshold, 0, 'unused by composite alerts');
});

void t.test('a change keeps omitted fields', async (t) => {
  const api = await startApi(t, UNWATCHED);
  let expected = await makeAlert(api, { type: 'latency_threshold', threshold: 100 });
  for (const change of [
    {},
    { threshold: 200.5 },
    { cooldown_minutes: 0 },
    { is_active: false },
    { webhook_url: HOOK_URL },
    { channel: 'webhook' },
    { channel: 'email' },
    { name: 'slow', window_minutes: 15, min_samples: 5 },
    { channel: 'both', webhook_url: 'https://example.org:8443/a?b=c' },
    { threshold: 0, cooldown_minutes: 525_600, is_active: true, channel: 'webhook', webhook_url: HOOK_URL },
    { threshold: null, cooldown_minutes: null, is_active: null, channel: null, webhook_url: null },
  ]) {
    const answer = await api.call('PATCH', `/alerts/${expected.id}`, { json: change });
    const given = Object.entries(change).filter(([, value]) => value !== null);
    expected = { ...expected, ...(Object.fromEntries(given) as Partial<AlertJson>) };
    t.strictSame(answer.body, expected, JSON.stringify(change));
    t.equal(answer.status, 200);
    t.strictSame(await api.get('/alerts'), [expected]);
  }
});

void t.test('a deleted alert is no longer found', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const [gone, kept] = [await makeAlert(api), await makeAlert(api)];
  const place = `/alerts/${gone.id}`;
  const answer = await api.call('DELETE', place);
  t.equal(answer.status, 204);
  t.equal(answer.body, undefined);
  for (const { status, body } of await attempts(api, place)) t.match({ status, body }, MISSING);
  t.strictSame(await api.get('/alerts'), [kept]);
});

void t.test('alerts and agents of other users are not found', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const anna = await api.createUser('anna@example.com', ['write', 'read', 'manage']);
  const foreign = await makeAgent(api, 'shared name');
  const own = await makeAgent(api, 'shared name', anna.key);
  const alert = await makeAlert(api, { agent_id: own }, { key: anna.key });
  const place = `/alerts/${alert.id}`;
  for (const { status, body } of await attempts(api, place)) t.match({ status, body }, MISSING);
  t.strictSame(await api.get('/alerts'), []);
  t.strictSame(await api.get('/alerts', anna.key), [alert], 'nothing changed');
  for (const agent_id of [foreign, randomUUID()]) {
    const json = { agent_id, type: 'failure_rate', threshold: 0.5 };
    t.match(await api.call('POST', '/alerts', { key: anna.key, json }), {
      status: 404,
      body: { code: 'not_found', detail: /^There is no such agent:/ },
    });
  }
  const { key: reader } = await api.createKey(['read'], { user_id: anna.id });
  t.strictSame(
    (await attempts(api, place, reader)).map(({ status }) => status),
    [200, 403, 403, 200, 200],
  );
  const json = { target_service: 'a', type: 'failure_rate', threshold: 0.5 };
  t.equal((await api.call('POST', '/alerts', { key: reader, json })).status, 403);
  t.strictSame(await api.get('/alerts', reader), [alert]);
});

void t.test('limits the alerts of a user and lists all of them', async (t) => {
  const before = await startApi(t, UNWATCHED);
  const first = await makeAlert(before, { type: 'composite', composite_config: COMPOSITE });
  await before.stop();
  // Creating them one by one would take minutes.
  await copyRule(before.directory, MAX_ALERTS - 2);

  const { directory, adminKey } = before;
  const api = await startApi(t, { ...UNWATCHED, directory, key: adminKey });
  const attempt = async () => {
    const json = { target_service: 'a', type: 'inactivity', threshold: 1 };
    return await api.call('POST', '/alerts', { json });
  };
  const last = await Promise.all([attempt(), attempt(), attempt()]);
  t.strictSame(last.map(({ status }) => status).sort(), [201, 409, 409], 'also for concurrent calls');
  t.match(await attempt(), {
    status: 409,
    body: { code: 'conflict', detail: /^There are 1000 alerts, .*: delete one first\.$/ },
  });
  const listed = await api.get<AlertJson[]>('/alerts');
  t.equal(listed.length, MAX_ALERTS);
  t.equal(new Set(listed.map(({ id }) => id)).size, MAX_ALERTS);
  await api.call('DELETE', `/alerts/${first.id}`);
  t.equal((await attempt()).status, 201);
  t.equal((await attempt()).status, 409);
  const other = await api.createUser('anna@example.com', ['manage']);
  t.match(
    await makeAlert(api, {}, { key: other.key }),
    { type: 'failure_rate' },
    'each user has a separate limit',
  );
});

/** Every route of a single alert; none may change the alert of another user. */
async function attempts(api: TestApi, place: string, key = api.adminKey) {
  return [
    await api.call('GET', place, { key }),
    await api.call('PATCH', place, { key, json: { is_active: false } }),
    await api.call('DELETE', place, { key }),
    await api.call('GET', `${place}/events`, { key }),
    await api.call('POST', `${place}/test`, { key }),
  ];
}

/** The maximum number of conditions, of every type and operator. */
function fullComposite(): object {
  const runs = [
    { type: 'failure_rate', source: 'ai', threshold: 1 },
    { type: 'inactivity', source: 'ai', threshold: 0.25 },
    { type: 'cost_threshold', source: 'ai', threshold: 0.000_001 },
  ];
  const metrics = ['gt', 'lt', 'gte', 'lte'].map((operator, index) => ({
    type: 'metric_threshold',
    source: 'infra',
    metric_name: index === 0 ? 'x'.repeat(1024) : 'cpu 🌡\n',
    operator,
    value: [1e308, -0.5, 0, -1e-300][index],
  }));
  return { operator: 'or', conditions: [...metrics, ...runs, ...runs] };
}

/** Copies the only rule of a closed control store that many times. */
async function copyRule(directory: string, times: number): Promise<void> {
  const url = await databaseOf(directory);
  const clock = systemClock;
  const database =
    url === undefined
      ? await openSqlite({ path: join(directory, 'jackdaw.control.db'), clock })
      : await openPostgres({ url, clock, logger: new RecordingLogger() });
  const others = [
    ...['user_id', 'agent_id', 'agent_name', 'type', 'threshold', 'cooldown_minutes', 'is_active', 'channel'],
    ...['webhook_url', 'composite_config', 'target_service', 'last_fired_at', 'created_at'],
    ...['incident_id', 'incident_firings', 'evidence', 'changed'],
  ].join();
  await database.transaction(async (tx) => {
    await sql
      .raw(
        `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${times})
        insert into alert_rules (id, ${others})
        select substr(id, 1, 24) || cast(n + 100000000000 as text), ${others} from alert_rules, numbers`,
      )
      .execute(tx);
  });
  await database.close();
}
