import t, { type Test } from 'tap';
import { EVENT_TYPES } from '../../../src/signal/event.js';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { testFolder } from '../../support/test-folder.js';
import { anItem } from '../../support/trace-batch.js';
import { EventsExporter } from './events-exporter.js';

const ALL = '["*"]';

interface Place {
  readonly directory: string;
  readonly key?: string;
}

/** A daemon whose events of these types go to an exporter of the test. */
async function startWithOutbox(t: Test, place: Place, types = ALL) {
  const exporter = new EventsExporter();
  const { daemon, url, key, logs, healthUrl, meter } = await startTestDaemon(t, {
    ...place,
    factories: [exporter.factory],
    overlay: `
receivers:
  outbox: { types: ${types}, max_batch_size: 10, retry: { initial_interval: 5ms, max_interval: 20ms } }
exporters: { keep: {} }
service: { pipelines: { events: { receivers: [outbox], exporters: [keep] } } }
`,
  });
  const api = new ApiCaller(url, key);
  return { exporter, daemon, api, key, logs, healthUrl, meter };
}

const aRun = (agent: string, status = 'completed') => anItem({ trace: { agent, status } });
const idOf = ({ trace }: ReturnType<typeof anItem>) => trace.trace_id;

void t.test('events of the daemon reach the exporter', async (t) => {
  const { exporter, api } = await startWithOutbox(t, { directory: testFolder(t) });
  const { user } = await api.get<{ user: { id: string } }>('/me');
  const [done, failed] = [aRun('writer'), aRun('reader', 'failed')];
  await api.send([done, failed]);
  await exporter.taken(4);
  const prompt = { name: 'greeting', version: 2, template_text: 'Hello' };
  t.match(await api.call('POST', '/dashboard/prompts/', { json: prompt }), { status: 201 });
  await exporter.taken(5);
  t.strictSame(new Set(exporter.batches.map(({ tenant }) => tenant)), new Set([user.id]));
  t.match(exporter.data('trace.completed'), [{ trace_id: idOf(done), agent_name: 'writer', span_count: 1 }]);
  t.match(exporter.data('trace.failed'), [{ trace_id: idOf(failed), status: 'failed' }]);
  t.same(new Set(exporter.data('agent.created').map(({ name }) => name)), new Set(['writer', 'reader']));
  t.match(exporter.data('prompt.created'), [{ name: 'greeting', version: 2 }]);
  t.notMatch(exporter.data('prompt.created'), { 0: { template_text: String } });
  for (const { id, type, body } of exporter.events) {
    t.match(JSON.parse(body), { id, type, timestamp: /^20.*Z$/, data: Object });
    t.ok(EVENT_TYPES.includes(type));
  }
  // Repeats are not events.
  await api.send([done, failed]);
  const last = aRun('writer');
  await api.send([last]);
  await exporter.taken(6);
  t.match(exporter.data('trace.completed')[1], { trace_id: idOf(last) });
  t.equal(exporter.events.length, 6);
});

void t.test('emits only wanted types', async (t) => {
  const { exporter, api } = await startWithOutbox(t, { directory: testFolder(t) }, '[trace.failed]');
  await api.send([aRun('a')]);
  await api.send([aRun('a'), aRun('b', 'failed')]);
  await exporter.taken(1);
  t.strictSame(
    exporter.events.map(({ type }) => type),
    ['trace.failed'],
  );
});

void t.test('emits events in commit order, page by page', async (t) => {
  const { exporter, api } = await startWithOutbox(t, { directory: testFolder(t) }, '[trace.completed]');
  const runs = Array.from({ length: 12 }, () => [aRun('a'), aRun('a'), aRun('a')]);
  for (const some of runs) await api.send(some);
  await exporter.taken(36);
  t.equal(exporter.events.length, 36);
  // Events of one request are one commit, without order inside.
  const ids = exporter.data('trace.completed').map(({ trace_id }) => trace_id);
  runs.forEach((some, index) => {
    t.same(new Set(ids.slice(index * 3, index * 3 + 3)), new Set(some.map(idOf)));
  });
  t.ok(exporter.batches.every(({ items }) => items.length <= 10));
});

void t.test('a clean stop repeats and loses nothing', async (t) => {
  const directory = testFolder(t);
  const first = await startWithOutbox(t, { directory });
  await first.api.send([aRun('a')]);
  await first.exporter.taken(2);
  await first.daemon.shutdown();
  t.notMatch(first.logs.join('\n'), /^(warn|error)/m);

  const second = await startWithOutbox(t, { directory, key: first.key });
  const run = aRun('a', 'failed');
  await second.api.send([run]);
  await second.exporter.taken(1);
  t.match(second.exporter.data('trace.failed'), [{ trace_id: idOf(run) }]);
  t.equal(second.exporter.events.length, 1);
});

void t.test('events wait for a failing exporter, also across a restart', async (t) => {
  const directory = testFolder(t);
  const first = await startWithOutbox(t, { directory }, '[trace.completed]');
  first.exporter.fault = new Error('the other side is gone');
  const runs = Array.from({ length: 13 }, () => aRun('a'));
  for (const run of runs) await first.api.send([run]);
  await first.exporter.failed(3);
  t.strictSame(first.exporter.events, []);
  t.equal((await fetch(`${first.healthUrl}/readyz`)).status, 200, 'traces are still accepted');
  await first.daemon.shutdown();

  const second = await startWithOutbox(t, { directory, key: first.key }, '[trace.completed]');
  await second.exporter.taken(13);
  t.strictSame(
    second.exporter.data('trace.completed').map(({ trace_id }) => trace_id),
    runs.map(idOf),
  );
});

void t.test('a new reader starts with new events', async (t) => {
  const directory = testFolder(t);
  const first = await startWithOutbox(t, { directory });
  await first.api.send([aRun('a')]);
  await first.exporter.taken(2);
  await first.daemon.shutdown();
  const exporter = new EventsExporter();
  const { url, key } = await startTestDaemon(t, {
    directory,
    key: first.key,
    factories: [exporter.factory],
    overlay: `
receivers: { outbox/other: { types: ${ALL} } }
exporters: { keep: {} }
service: { pipelines: { events: { receivers: [outbox/other], exporters: [keep] } } }
`,
  });
  const run = aRun('a');
  await new ApiCaller(url, key).send([run]);
  await exporter.taken(1);
  t.match(exporter.data('trace.completed'), [{ trace_id: idOf(run) }]);
  t.equal(exporter.events.length, 1);
});
