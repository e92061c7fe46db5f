import { randomUUID } from 'node:crypto';
import t from 'tap';
import { formatTime } from '../../../../src/signal/time.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aHeader, aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { aFollowingRecord } from '../following-records.js';
import { dataOf, EventEngine, describeEvent } from '../event-engine.js';

const MINUTE = 60_000_000;
const IDLE = { idle_timeout_ms: 60_000 };

/** A message of an undeclared run: an open span, or another one. */
function part(traceId: string, changes: Parameters<typeof aSpanRecord>[1] = {}): TraceRecord {
  const open = { status: 'running', parent_span_id: randomUUID(), ended_at: NOON + 1000 } as const;
  const span = aSpanRecord(traceId, { ...open, ...changes });
  return aFollowingRecord([span], IDLE);
}

void t.test('truncates long texts in events', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['trace.failed']);
  const texts = { outcome: '🪶'.repeat(4097), error_message: `${'x'.repeat(4096)}y` };
  const run = aTrace(0, { status: 'failed', ...texts });
  await engine.write(user, [run], NOON);
  const [event] = await engine.events();
  t.match(event && dataOf(event), { outcome: '🪶'.repeat(4096), error_message: 'x'.repeat(4096) });
  t.ok(Buffer.byteLength(event?.event.body ?? '') < 24_000);
  t.match(await engine.shownRun(user, run.trace.trace_id), texts, 'the run has the full texts');
});

void t.test('events describe their run', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['*']);
  const whole = aTrace(3, {
    status: 'failed',
    agent: 'Größe',
    ended_at: NOON + 2500,
    success: false,
    outcome: 'it\'s "lost"',
    error_message: 'tab\tand 🪶',
    total_tokens: 12,
    total_cost_usd: 1_234_567_000,
  });
  await engine.write(user, [whole], NOON + 7);
  const [agent, event] = await engine.events();
  t.same(event?.event, {
    id: event?.event.id,
    type: 'trace.failed',
    timestamp: NOON + 7,
    organization_id: null,
    endpoint_id: null,
    body: event?.event.body,
  });
  t.match(event?.event.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.equal(event?.tenant, user.tenant);
  const data = {
    agent_id: agent && dataOf(agent).id,
    trace_id: whole.trace.trace_id,
    agent_name: 'Größe',
    kind: 'agent',
    session_id: null,
    user_id: null,
    tags: [],
    environment: null,
    release: null,
    agent_version: null,
    repository: null,
    status: 'failed',
    started_at: formatTime(NOON),
    ended_at: formatTime(NOON + 2500),
    duration_ms: 2.5,
    success: false,
    outcome: 'it\'s "lost"',
    error_message: 'tab\tand 🪶',
    total_tokens: 12,
    total_cost_usd: 1.234567,
    sample_rate: null,
    span_count: 3,
  };
  t.same(data, await engine.shownRun(user, whole.trace.trace_id));
  t.equal(
    event?.event.body,
    JSON.stringify({ id: event?.event.id, type: 'trace.failed', timestamp: formatTime(NOON + 7), data }),
  );
  t.match(agent && dataOf(agent), { name: 'Größe', created_at: formatTime(NOON + 7) });
  t.same(Object.keys((agent && dataOf(agent)) ?? {}), ['id', 'name', 'created_at']);
  t.equal(engine.reports.at(-1)?.rows.events, 2, 'the commit report counts them');
});

void t.test('writes only wanted events', async (t) => {
  const engine = await EventEngine.open(t);
  const [none, all, failed] = [
    await engine.addUser(null),
    await engine.addUser(['*']),
    await engine.addUser(['trace.failed', 'alert.fired']),
  ];
  const statuses = ['running', 'completed', 'failed', 'timed_out'] as const;
  const items = statuses.map((status) => aTrace(1, { status }));
  // The second write changes them, the third one completes them.
  await Promise.all([none, all, failed].map((user) => engine.write(user, items, NOON)));
  await Promise.all([none, all, failed].map((user) => engine.write(user, items, NOON)));
  const [running, completed, other, late] = items.map(({ trace }) => trace.trace_id);
  const end = { trace: aHeader({ trace_id: running ?? '', status: 'failed' }), spans: [] };
  for (const user of [none, all, failed]) await engine.write(user, [end], NOON);
  const events = await engine.events();
  t.same(events.filter(({ tenant }) => tenant === none.tenant).map(describeEvent), []);
  t.same(events.filter(({ tenant }) => tenant === all.tenant).map(describeEvent), [
    'agent.created researcher',
    `trace.completed ${String(completed)}`,
    `trace.failed ${String(other)}`,
    `trace.timed_out ${String(late)}`,
    `trace.failed ${String(running)}`,
  ]);
  t.same(events.filter(({ tenant }) => tenant === failed.tenant).map(describeEvent), [
    `trace.failed ${String(other)}`,
    `trace.failed ${String(running)}`,
  ]);
  t.same(
    engine.reports.map(({ rows }) => rows.events ?? 0),
    [5, 0, 0, 1, 1],
  );
});

void t.test('an event that was not wanted at its time is never written', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(null);
  const [declared, followed] = [randomUUID(), randomUUID()];
  const root = part(followed, { parent_span_id: null, status: 'completed' });
  await engine.write(user, [aTrace(1, { trace_id: declared }), root], NOON);
  await engine.setWanted(user, ['*']);
  for (const restarts of [false, true]) {
    if (restarts) await engine.reopen();
    const late = { trace: aHeader({ trace_id: declared }), spans: [aSpanRecord(declared)] };
    await engine.write(user, [late, part(followed), root], NOON + 1);
    await engine.setOutcome(user, declared, false, 'judged');
  }
  t.same(await engine.events(), []);
  await engine.setWanted(user, null);
  await engine.setWanted(user, ['trace.completed']);
  const next = aTrace(0);
  await engine.write(user, [next], NOON);
  t.same((await engine.events()).map(describeEvent), [`trace.completed ${next.trace.trace_id}`]);
});

void t.test('a time-out of the sweeper is provisional', async (t) => {
  for (const restarts of [false, true]) {
    const engine = await EventEngine.open(t, { segmentSize: { rows: 10, bytes: 1e9 } });
    const user = await engine.addUser(['*']);
    const ids = Array.from({ length: 5 }, () => randomUUID());
    const [late = '', rooted = '', declared = '', final = '', judged = ''] = ids;
    const hint = { agent_hint: { source: 'service.name', name: 'service' } } as const;
    await engine.write(
      user,
      ids.map((id) => part(id, hint)),
      NOON,
    );
    t.same((await engine.events()).map(describeEvent), []);
    for (const now of [NOON, NOON + MINUTE]) await engine.timeOutIdle(now);
    for (const id of ids) t.match(await engine.shownRun(user, id), { status: 'timed_out' });
    t.same((await engine.events()).map(describeEvent), ['agent.created service'], 'the agent is certain now');
    if (restarts) {
      await engine.settle();
      await engine.reopen();
    }
    const seen = (await engine.events()).at(-1);
    await engine.setOutcome(user, judged, false, 'lost');
    await engine.write(user, [part(late, hint)], NOON + MINUTE);
    t.match(await engine.shownRun(user, late), { status: 'running' });
    const end = { trace: aHeader({ trace_id: declared, agent: 'service', status: 'failed' }), spans: [] };
    const timedOut = {
      trace: aHeader({ trace_id: final, agent: 'service', status: 'timed_out' }),
      spans: [],
    };
    await engine.write(
      user,
      [part(rooted, { ...hint, parent_span_id: null, status: 'completed' }), end, timedOut],
      NOON + MINUTE,
    );
    t.same((await engine.events(seen)).map(describeEvent), [
      `trace.completed ${rooted}`,
      `trace.failed ${declared}`,
      `trace.timed_out ${final}`,
    ]);
    // Unchanged, and again in its current state.
    const before = await engine.events();
    await engine.write(user, [timedOut, end, part(final, hint), part(rooted, hint)], NOON + 2 * MINUTE);
    t.same(await engine.events(), before);
    await engine.close();
  }
});

void t.test(
  'a run that completes without its root has one event, and another one if its root fails',
  async (t) => {
    const engine = await EventEngine.open(t);
    const user = await engine.addUser(['*']);
    const id = randomUUID();
    const hint = { agent_hint: { source: 'agent span', name: 'planner' } } as const;
    const ended = { ...hint, status: 'completed' } as const;
    await engine.write(user, [part(id, ended)], NOON);
    t.same(await engine.events(), []);
    for (const now of [NOON, NOON + MINUTE]) await engine.timeOutIdle(now);
    const expected = ['agent.created planner', `trace.completed ${id}`];
    t.same((await engine.events()).map(describeEvent), expected);
    await engine.write(user, [part(id, ended)], NOON + MINUTE);
    t.match(await engine.shownRun(user, id), { status: 'running' });
    await engine.reopen();
    for (const now of [2, 3]) await engine.timeOutIdle(NOON + now * MINUTE);
    t.match(await engine.shownRun(user, id), { status: 'completed' });
    await engine.write(
      user,
      [part(id, { ...hint, parent_span_id: null, status: 'failed' })],
      NOON + 3 * MINUTE,
    );
    t.match(await engine.shownRun(user, id), { status: 'failed' });
    t.same((await engine.events()).map(describeEvent), [...expected, `trace.failed ${id}`]);
  },
);

void t.test('a time-out of a run without spans stays provisional', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['*']);
  const id = randomUUID();
  const named = { ...part(id), spans: [] };
  await engine.write(user, [{ trace: aHeader({ trace_id: id, status: 'running' }), spans: [] }], NOON);
  await engine.write(user, [named], NOON);
  for (const now of [NOON, NOON + MINUTE]) await engine.timeOutIdle(now);
  t.match(await engine.shownRun(user, id), { status: 'timed_out', span_count: 0 });
  const before = (await engine.events()).length;
  await engine.write(
    user,
    [{ ...named, trace: { ...named.trace, sdk_version: '2', success: true } }],
    NOON + MINUTE,
  );
  t.match(await engine.shownRun(user, id), { status: 'timed_out', success: true }, 'the change is new');
  t.equal((await engine.events()).length, before);
  const end = { trace: aHeader({ trace_id: id, status: 'timed_out' }), spans: [] };
  await engine.write(user, [end], NOON + MINUTE);
  t.same((await engine.events()).slice(before).map(describeEvent), [`trace.timed_out ${id}`]);
});

void t.test('orders the events of a group: agents first, then runs by their end', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['*']);
  const [first, second, third] = [aTrace(1), aTrace(1, { agent: 'other' }), aTrace(1)];
  const running = aTrace(1, { status: 'running' });
  const completed = { trace: aHeader({ ...running.trace, status: 'completed' }), spans: [] };
  await Promise.all([
    engine.write(user, [first, running], NOON),
    engine.write(user, [second, second], NOON),
    engine.write(user, [completed, third], NOON),
  ]);
  const events = await engine.events();
  t.same(events.map(describeEvent), [
    'agent.created researcher',
    'agent.created other',
    ...[first, second, running, third].map(({ trace }) => `trace.completed ${trace.trace_id}`),
  ]);
  t.equal(new Set(events.map(({ commit }) => commit)).size, 1);
  t.same(
    events.map(({ place }) => place),
    [0, 1, 2, 3, 4, 5],
  );
  t.equal(new Set(events.map(({ event }) => event.id)).size, 6);
});
