import t from 'tap';
import { BatchSender } from '../../../src/cli/demo/batch-sender.js';
import { packBatches } from '../../../src/cli/demo/body.js';
import { history } from '../../../src/cli/demo/history.js';
import { LiveTraffic } from '../../../src/cli/demo/live-traffic.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';

const UNTIL_MS = Date.UTC(2026, 10, 20, 15);

async function read(daemon: TestDaemon, path: string): Promise<unknown> {
  const response = await fetch(`${daemon.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${daemon.key}` },
  });
  return response.json();
}

function senderTo(daemon: TestDaemon): BatchSender {
  const target = { url: daemon.url, key: daemon.key, keySource: 'the test' };
  return new BatchSender(target, new AbortController().signal);
}

void t.test(
  'a daemon takes a history without one rejection, and the same again changes nothing',
  async (t) => {
    const daemon = await startTestDaemon(t);
    const sender = senderTo(daemon);
    const runs = [...history({ seed: 'demo', untilMs: UNTIL_MS, days: 4, runsPerDay: 40 })].map(
      (run) => run.body,
    );
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
  const traffic = new LiveTraffic({ seed: 'demo', startMs: UNTIL_MS, runsPerMinute: 120 });
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
