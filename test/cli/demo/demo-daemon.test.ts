import t from 'tap';
import { packBatches } from '../../../src/cli/demo/body.js';
import { LiveTraffic } from '../../../src/cli/demo/live.js';
import { BatchSender, Poster } from '../../../src/cli/demo/poster.js';
import { history, readRecording } from '../../../src/cli/demo/recording.js';
import { demoCommand } from '../../../src/cli/demo.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';
import { memoryIo } from '../../support/memory-io.js';

const UNTIL_MS = Date.UTC(2026, 10, 20, 15);
const recording = readRecording();

async function read(daemon: TestDaemon, path: string): Promise<unknown> {
  const response = await fetch(`${daemon.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${daemon.key}` },
  });
  return response.json();
}

function senderTo(daemon: TestDaemon): BatchSender {
  const target = { url: daemon.url, key: daemon.key, keySource: 'the test' };
  return new BatchSender(new Poster(target, new AbortController().signal));
}

void t.test(
  'a daemon takes a history without one rejection, and the same again changes nothing',
  async (t) => {
    const daemon = await startTestDaemon(t);
    const sender = senderTo(daemon);
    const plan = { key: 'demo', untilMs: UNTIL_MS, days: 4, runsPerDay: 40 };
    const runs = [...history(recording, plan)].map((run) => run.body);
    const post = async () => {
      for (const batch of packBatches(runs)) {
        t.match(await sender.send(batch), { accepted: batch.traces.length, rejected: 0, errors: [] });
      }
      return [await read(daemon, '/agents'), await read(daemon, '/dashboard/traces?page_size=100')];
    };
    const first = await post();
    t.match(first[1], { count: runs.length });
    t.same(await post(), first);
    const [run] = runs;
    t.match(await read(daemon, `/dashboard/traces/${run?.trace.trace_id ?? ''}`), {
      agent_name: run?.trace.agent,
      status: run?.trace.status,
      duration_ms: run?.trace.duration_ms,
      spans: { length: run?.spans.length },
    });
  },
);

void t.test('live runs are stored as running and completed by what comes later', async (t) => {
  const daemon = await startTestDaemon(t);
  const sender = senderTo(daemon);
  const traffic = new LiveTraffic(recording, { key: 'demo', startMs: UNTIL_MS, runsPerMinute: 120 });
  const post = async (nowMs: number) => {
    for (const batch of packBatches(traffic.news(nowMs))) t.match(await sender.send(batch), { rejected: 0 });
  };
  const counted = async (status: string) => read(daemon, `/dashboard/traces?status=${status}`);
  for (let ms = 0; ms <= 20_000; ms += 500) await post(UNTIL_MS + ms);
  t.match(await counted('running'), { count: traffic.underWay });
  t.ok(traffic.underWay > 0);
  for (const batch of packBatches(traffic.cancel(UNTIL_MS + 21_000))) await sender.send(batch);
  t.match(await counted('running'), { count: 0 });
  t.match(await read(daemon, '/dashboard/traces'), { count: traffic.started });
});

void t.test('what is around the runs is there, too, and once only however often it is sent', async (t) => {
  const daemon = await startTestDaemon(t);
  // So few runs that hours without any are told of, too.
  const args = ['--url', daemon.url, '--key', daemon.key, '--otlp-url', daemon.otlpUrl];
  const size = ['--days', '28', '--runs-per-day', '12'];
  const send = async () => {
    const io = memoryIo();
    await demoCommand(io, () => UNTIL_MS).parseAsync([...args, ...size], { from: 'user' });
    t.equal(io.errText(), '');
    return io.outText();
  };
  const seen = async () => {
    const compared = (await read(daemon, '/dashboard/prompts/support-reply/compare')) as {
      versions: { total_traces: number }[];
    };
    return {
      runs: await read(daemon, '/dashboard/traces?page_size=1'),
      versions: compared.versions.map(({ total_traces }) => total_traces),
      alerts: (await read(daemon, '/alerts')) as unknown[],
      endpoints: (await read(daemon, '/org/default/webhooks/endpoints')) as unknown[],
      logs: await read(daemon, '/dashboard/logs/search?page_size=1'),
      metrics: (await read(daemon, '/dashboard/metrics')) as unknown[],
    };
  };
  t.match(await send(), /4 alerts; logs and metrics of 20 hours/);
  const first = await seen();
  t.equal(first.versions.length, 3);
  t.ok(first.versions.every((runs) => runs > 0));
  t.equal(first.alerts.length, 4);
  t.match(first.endpoints, [{ url: 'https://incidents.example.invalid/jackdaw', is_active: true }]);
  t.match(first.metrics, [
    { data_point_count: 1200 },
    { data_point_count: 2400 },
    { data_point_count: 3600 },
  ]);
  await send();
  const second = await seen();
  for (const part of ['runs', 'versions', 'logs', 'metrics'] as const)
    t.same(second[part], first[part], part);
  t.equal(second.alerts.length, 4);
  t.equal(second.endpoints.length, 1);
});

void t.test('what a key may not make is left out, and said', async (t) => {
  const daemon = await startTestDaemon(t);
  const made = await fetch(`${daemon.url}/api/v1/me/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'sdk', scopes: ['write', 'read'] }),
  });
  const { key } = (await made.json()) as { key: string };
  const io = memoryIo();
  const args = ['--url', daemon.url, '--key', key, '--days', '2', '--runs-per-day', '20'];
  const nobody = ['--otlp-url', daemon.url];
  await demoCommand(io, () => UNTIL_MS).parseAsync([...args, ...nobody], { from: 'user' });
  t.match(io.outText(), /Sent \d+ runs of/);
  t.match(
    io.errText(),
    /Without the prompt support-reply[^]*may not make prompts[^]*Without a webhook[^]*Without 4 alerts[^]*Without logs and metrics/,
  );
});
