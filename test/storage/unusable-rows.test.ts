import { join } from 'node:path';
import t from 'tap';
import { Database, MAIN } from '../../src/storage/duckdb/database.js';
import { Troubles } from '../../src/storage/duckdb/troubles.js';
import { keysSetAside, setUnusableAside, type CheckedFile } from '../../src/storage/duckdb/unusable-rows.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { testFolder } from '../support/test-folder.js';
import { aTrace, NOON } from '../support/run-records.js';
import { aFiring, anAlert } from './alert-records.js';
import { aKey, anEndpoint, anOrganization, aPrompt, aUser } from './meta-records.js';
import { inColdFile, inFile, inOneFile } from './stored-rows.js';
import { TestStore } from './test-store.js';

const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 100 };
/** Each makes a list fail that comes upon it, or the start itself. */
const DAMAGE = [
  "started_at = 'infinity'",
  "ended_at = '-infinity'",
  'total_cost_usd = 9223372036854775807',
  'total_tokens = -9223372036854775808',
  "duration_ms = 'NaN'",
  "heard_at = '290000-01-01'",
] as const;

void t.test('rows with values that cannot be used are set aside at the start, which goes on', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const write = async (count: number): Promise<string[]> => {
    const items = Array.from({ length: count }, () => aTrace(1));
    await opened.store.writeTraces({ tenant, items }, RECEIVED);
    return items.map(({ trace }) => trace.trace_id);
  };
  const moved = await write(40);
  await write(40);
  await opened.store.settled();
  const hot = await write(10);
  await opened.close();
  for (const [i, change] of DAMAGE.entries()) {
    const id = moved[i] ?? '';
    await inColdFile(opened.path, `UPDATE traces SET ${change} WHERE trace_id = '${id}'`);
  }
  const [damagedHot = ''] = hot;
  await inFile(
    opened.path,
    /^hot-/,
    `UPDATE spans SET cost_usd = 9e18::BIGINT WHERE trace_id = '${damagedHot}'`,
  );

  await opened.start();
  const { items, count } = await opened.store.listRuns(tenant, {}, PAGE);
  t.equal(count, 90 - DAMAGE.length);
  t.equal(items.length, 90 - DAMAGE.length);
  t.notOk(items.some(({ trace_id }) => moved.slice(0, DAMAGE.length).includes(trace_id)));
  t.equal((await opened.store.listAgents(tenant))[0]?.total_runs, 90 - DAMAGE.length);
  const report = opened.statuses.at(-1);
  t.match(report, { level: 'degraded', message: /6 of traces.*1 of spans/s });
  t.match(report?.message, opened.path.replace('.duckdb', '.cold.duckdb'));
  t.ok(opened.settings.logger.lines.some((line) => /set aside into the table unusable_rows/.test(line)));
  const [again = ''] = moved;
  await opened.store.writeTraces({ tenant, items: [aTrace(1, { trace_id: again })] }, RECEIVED);
  t.equal((await opened.store.readTrace(tenant, again))?.trace_id, again, 'a run may come again');

  opened.statuses.length = 0;
  await opened.reopen();
  t.strictSame(opened.statuses, [], 'the next start has nothing to tell');
  await opened.close();
  const kept = await inColdFile(
    opened.path,
    'SELECT table_name, content FROM unusable_rows ORDER BY content',
  );
  t.equal(kept.filter(({ table_name }) => table_name === 'traces').length, DAMAGE.length);
  t.ok(kept.every(({ content }) => String(content).includes('tenant')));
});

/** The newest row of each table of the main file, where not another one is meant, gets a value that cannot be used. */
const MAIN_DAMAGE: Readonly<Record<string, readonly string[]>> = {
  users: ["created_at = 'infinity' WHERE tenant = (SELECT max(tenant) FROM users)"],
  api_keys: ["expires_at = 'infinity' WHERE name = 'damaged'"],
  organizations: ["created_at = '-infinity' WHERE slug = 'damaged'"],
  prompts: ['number = 9e18::BIGINT WHERE version = 2'],
  webhook_endpoints: ["consecutive_failures = 9e18::BIGINT WHERE name = 'damaged'"],
  events: ["timestamp = 'infinity' WHERE number = (SELECT max(number) FROM events)"],
  event_readers: ['entry = 9e18::BIGINT'],
  taken_events: ["taken_at = 'infinity' WHERE number = 3"],
  deliveries: ["created_at = 'infinity' WHERE number = 2"],
  alerts: ["threshold = 'NaN' WHERE channel = 'both'", "composite_config = '{' WHERE channel = 'webhook'"],
  alert_events: ["fired_at = 'infinity' WHERE number = 2"],
  alert_notices: ["due_at = 'infinity' WHERE number = 1"],
  alert_beat: ["beat_at = 'infinity'"],
};

void t.test(
  'rows of the main file likewise, with what belongs to them, and no number is given twice',
  async (t) => {
    const opened = await TestStore.open(t);
    const { store } = opened;
    const [sound, damaged] = [aUser(), aUser()];
    for (const user of [sound, damaged]) await store.createUser(user);
    const keys = [aKey(sound), aKey(sound, { name: 'damaged' }), aKey(damaged)];
    for (const key of keys) await store.createKey(key);
    const organizations = [anOrganization('sound'), anOrganization('damaged')];
    for (const organization of organizations) await store.createOrganization(organization);
    await store.putMember('sound', sound.id, 'admin');
    await store.putMember('sound', damaged.id, 'admin');
    const endpoint = anEndpoint();
    await store.createEndpoint('sound', endpoint);
    await store.createEndpoint('sound', anEndpoint({ name: 'damaged' }));
    await store.createEndpoint('damaged', anEndpoint());
    for (let i = 0; i < 3; i++) await store.testEndpoint('sound', endpoint.id, NOON);
    for (const version of [1, 2]) await store.createPrompt(sound.id, aPrompt({ version }));
    await store.createPrompt(damaged.id, aPrompt());
    const runs = [sound, damaged].map(() => aTrace(1));
    for (const [i, { id: tenant }] of [sound, damaged].entries())
      await store.writeTraces({ tenant, items: runs.slice(i, i + 1) }, RECEIVED);
    const trace_id = runs[0]?.trace.trace_id ?? '';
    await store.linkPrompt(
      sound.id,
      { prompt_name: 'prompt', prompt_version: 2, trace_id, span_id: null },
      NOON,
    );
    const alerts = [
      anAlert(),
      anAlert({ channel: 'both', webhook_url: 'https://example.com/' }),
      anAlert({ channel: 'webhook', webhook_url: 'https://example.com/' }),
    ];
    for (const alert of alerts) await store.createAlert(sound.id, alert, 10);
    await store.createAlert(damaged.id, anAlert(), 10);
    for (const rule of (await store.listRules()).filter(({ userId }) => userId === sound.id).slice(0, 2))
      await store.recordFirings([aFiring(rule)]);
    await store.beatAlerts(NOON);
    await store.openEventReader('reader');
    await opened.close();
    for (const [table, changes] of Object.entries(MAIN_DAMAGE)) {
      for (const change of changes) await inOneFile(opened.path, `UPDATE ${table} SET ${change}`);
    }

    await opened.start();
    const report = opened.statuses.at(-1);
    t.match(report, { level: 'degraded', message: `unusable_rows of ${opened.path}` });
    for (const table of Object.keys(MAIN_DAMAGE)) t.match(report?.message, ` of ${table}`);
    const { store: again } = opened;
    t.strictSame(await again.listUsers(), [sound]);
    t.strictSame(await again.listKeys(), keys.slice(0, 1));
    t.strictSame(await again.listOrganizations(), organizations.slice(0, 1));
    t.match(await again.listMembers('sound'), { length: 1 });
    t.match(await again.listEndpoints('sound'), { length: 1 });
    t.match(await again.listAlerts(sound.id), [{ id: alerts[0]?.id }]);
    t.match(await again.listRules(), { length: 1 });
    for (const { id } of alerts.slice(0, 1)) await again.listAlertEvents(sound.id, id, PAGE);
    t.match((await again.listRuns(sound.id, {}, PAGE)).count, 1);
    const deliveries = async (): Promise<unknown> =>
      (await opened.store.listDeliveries('sound', endpoint.id, PAGE))?.items.map(({ status }) => status);
    t.strictSame(await deliveries(), ['pending']);
    await again.testEndpoint('sound', endpoint.id, NOON);
    t.strictSame(await deliveries(), ['pending', 'pending']);

    const user = await opened.addUser();
    t.equal((await again.listRuns(user, {}, PAGE)).count, 0, 'nobody gets the runs of the user that is gone');
    await again.createPrompt(sound.id, aPrompt({ version: 2 }));
    const [version] = (await again.comparePrompts(sound.id, 'prompt')) ?? [];
    t.match(version, { version: 2, total_traces: 0 }, 'a new prompt has no links of the one that is gone');

    opened.statuses.length = 0;
    await opened.reopen();
    t.strictSame(opened.statuses, [], 'the next start has nothing to tell');
    t.match(await opened.store.listUsers(), { length: 2 });
  },
);

void t.test('however many rows are set aside, this thread holds none of them', async (t) => {
  const ROWS = 5000;
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const database = await Database.open({ path, memoryLimit: '256MiB', threads: 1 });
  t.teardown(() => {
    database.close();
  });
  const connection = await database.connect();
  const [of, child] = ['owners', 'children'];
  await connection.run(`CREATE TABLE ${MAIN}.main.${of} AS
    SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'infinity'::TIMESTAMP ELSE now()::TIMESTAMP END AS seen_at FROM range(${2 * ROWS}) r(i)`);
  await connection.run(
    `CREATE TABLE ${MAIN}.main.${child} AS SELECT i AS owner FROM range(${2 * ROWS}) r(i)`,
  );
  await connection.run(`CREATE TABLE ${MAIN}.main.unusable_rows (table_name VARCHAR, content VARCHAR)`);
  let most = 0;
  const rows = connection.rows.bind(connection);
  connection.rows = async (sql, values) => {
    const found = await rows(sql, values);
    most = Math.max(most, found.length);
    return found;
  };
  const logger = new RecordingLogger();
  const troubles = new Troubles(() => undefined);
  const children = { name: child, columns: [] };
  const file: CheckedFile = {
    catalog: MAIN,
    path,
    tables: [{ name: of, columns: [{ name: 'seen_at', sql: 'TIMESTAMP' }], keys: ['id'] }, children],
    kept: ({ name }) => ({ table_name: `'${name}'`, content: 'r::VARCHAR' }),
    settle: async (counts, setAside) => {
      t.equal(counts.get(of), ROWS);
      await setAside(children, `owner::VARCHAR IN (${keysSetAside(of, 'id')})`);
    },
  };
  await setUnusableAside(connection, file, { logger, troubles });
  t.ok(most < 5, `${most} rows at a time`);
  t.match(logger.lines.join('\n'), `${ROWS} of ${of}, ${ROWS} of ${child}`);
  for (const name of [of, child]) {
    const [left] = await rows(`SELECT count(*)::INTEGER AS rows FROM ${MAIN}.main.${name}`);
    t.equal(left?.rows, ROWS);
  }
  await setUnusableAside(connection, file, { logger, troubles });
  t.equal(logger.lines.length, 1, 'nothing is left to do');
});
