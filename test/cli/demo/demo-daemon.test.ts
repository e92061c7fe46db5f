import t from 'tap';
import { packBatches } from '../../../src/cli/demo/body.js';
import { LiveTraffic } from '../../../src/cli/demo/live.js';
import { Poster } from '../../../src/cli/demo/poster.js';
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

function posterTo(daemon: TestDaemon): Poster {
  const target = { url: daemon.url, key: daemon.key, keySource: 'the test' };
  return new Poster(target, new AbortController().signal);
}

void t.test('a daemon accepts a whole history, and repeating it changes nothing', async (t) => {
  const daemon = await startTestDaemon(t);
  const poster = posterTo(daemon);
  const plan = { key: 'demo', untilMs: UNTIL_MS, days: 4, runsPerDay: 40 };
  const runs = [...history(recording, plan)].map((run) => run.body);
  const post = async () => {
    for (const batch of packBatches(runs)) {
      t.match(await poster.sendBatch(batch), { accepted: batch.traces.length, rejected: 0, errors: [] });
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
});

void t.test('live runs are stored as running and completed by later messages', async (t) => {
  const daemon = await startTestDaemon(t);
  const poster = posterTo(daemon);
  const traffic = new LiveTraffic(recording, { key: 'demo', startMs: UNTIL_MS, runsPerMinute: 120 });
  const post = async (nowMs: number) => {
    for (const batch of packBatches(traffic.pending(nowMs)))
      t.match(await poster.sendBatch(batch), { rejected: 0 });
  };
  const counted = async (status: string) => read(daemon, `/dashboard/traces?status=${status}`);
  for (let ms = 0; ms <= 20_000; ms += 500) await post(UNTIL_MS + ms);
  t.match(await counted('running'), { count: traffic.underWay });
  t.ok(traffic.underWay > 0);
  for (const batch of packBatches(traffic.cancel(UNTIL_MS + 21_000))) await poster.sendBatch(batch);
  t.match(await counted('running'), { count: 0 });
  t.match(await read(daemon, '/dashboard/traces'), { count: traffic.started });
});

/** Runs the command at a given time. @returns its output */
async function demo(daemon: TestDaemon, untilMs: number, ...options: readonly string[]): Promise<string> {
  const io = memoryIo();
  const target = ['--url', daemon.url, '--key', daemon.key];
  await demoCommand(io, () => untilMs).parseAsync([...target, ...options], { from: 'user' });
  t.equal(io.errText(), '');
  return io.outText();
}

void t.test('two demos have different ids, and shared objects are created once', async (t) => {
  const daemon = await startTestDaemon(t);
  // So few runs that some hours are empty.
  const size = ['--days', '28', '--runs-per-day', '12'];
  const seen = async () => {
    const compared = (await read(daemon, '/dashboard/prompts/support-reply/compare')) as {
      versions: { total_traces: number }[];
    };
    const { count: runs } = (await read(daemon, '/dashboard/traces?page_size=1')) as { count: number };
    const { count: logs } = (await read(daemon, '/dashboard/logs/search?page_size=1')) as { count: number };
    const metrics = (await read(daemon, '/dashboard/metrics')) as { data_point_count: number }[];
    return {
      added: [
        runs,
        logs,
        ...compared.versions.map(({ total_traces }) => total_traces),
        ...metrics.map(({ data_point_count }) => data_point_count),
      ],
      alerts: ((await read(daemon, '/alerts')) as unknown[]).length,
      endpoints: await read(daemon, '/org/default/webhooks/endpoints'),
    };
  };
  const shown = await demo(daemon, UNTIL_MS, ...size);
  t.match(shown, /4 alerts; logs and metrics of 24 hours/);
  t.match(shown, /own requests.* run it with .*otlp\.endpoint=self.*otlp\.user=admin@localhost/);
  const first = await seen();
  t.equal(first.added.length, 2 + 3 + 3);
  t.ok(
    first.added.every((count) => count > 0),
    first.added.join(', '),
  );
  t.same(first.added.slice(-3), [1440, 2880, 4320]);
  t.equal(first.alerts, 4);
  t.match(first.endpoints, [{ url: 'https://incidents.example.invalid/jackdaw', is_active: true }]);
  await demo(daemon, UNTIL_MS + 1, ...size);
  const second = await seen();
  t.same(
    second.added,
    first.added.map((count) => 2 * count),
  );
  t.equal(second.alerts, 4);
  t.equal((second.endpoints as unknown[]).length, 1);
});

void t.test('the API shows the stories of the last 24 hours', async (t) => {
  const daemon = await startTestDaemon(t);
  await demo(daemon, UNTIL_MS, '--days', '3');
  interface Stats {
    readonly runs: number;
    readonly failed: number;
    readonly success_count: number;
    readonly cost: number;
    readonly priced_runs: number;
  }
  interface Group {
    readonly key: string | null;
    readonly name: string | null;
    readonly total: Stats;
    readonly buckets: readonly Stats[];
  }
  /** The requests of the pages for the 24 hours that end that many days ago. */
  const groups = async (daysAgo: number, query: string): Promise<readonly Group[]> => {
    const [from, to] = [1, 0].map((days) => new Date(UNTIL_MS - (days + daysAgo) * 86_400_000).toISOString());
    const path = `/dashboard/series?start_time=${from ?? ''}&end_time=${to ?? ''}&interval=1h${query}`;
    return ((await read(daemon, path)) as { groups: readonly Group[] }).groups;
  };
  const stats = async (daysAgo: number, query: string, name?: string) =>
    (await groups(daysAgo, query)).find((group) => group.name === (name ?? null));

  const all = await stats(0, '');
  const hours = (all?.buckets ?? []).filter(({ runs }) => runs >= 8).map(({ runs, failed }) => failed / runs);
  t.ok(Math.max(...hours) > 0.25, `an incident: ${hours.join(', ')}`);
  t.ok(hours.filter((share) => share < 0.1).length >= 3, 'and hours without it');

  const costOf = (group: Group | undefined) => (group?.total.cost ?? 0) / (group?.total.priced_runs ?? 0);
  const [now, before] = [
    await stats(0, '&group_by=agent', 'research-assistant'),
    await stats(1, '&group_by=agent', 'research-assistant'),
  ];
  t.ok(costOf(now) > 1.5 * costOf(before), `a rise in cost: ${costOf(before)} to ${costOf(now)}`);

  const prompts = await groups(0, '&group_by=prompt_version&prompt_name=support-reply');
  t.same(prompts.map(({ key }) => key).sort(), ['2', '3'], 'both versions of the prompt');
  const { versions } = (await read(daemon, '/dashboard/prompts/support-reply/compare')) as {
    versions: readonly { version: number; success_rate: number }[];
  };
  const rate = (version: number) => versions.find((each) => each.version === version)?.success_rate ?? 0;
  t.ok(rate(3) < rate(2) - 0.15, `a worse prompt: ${rate(2)} to ${rate(3)}`);
});

void t.test('skips and reports what the key may not create', async (t) => {
  const daemon = await startTestDaemon(t);
  const made = await fetch(`${daemon.url}/api/v1/me/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'sdk', scopes: ['write', 'read'] }),
  });
  const { key } = (await made.json()) as { key: string };
  const io = memoryIo();
  const args = ['--url', daemon.url, '--key', key, '--days', '2', '--runs-per-day', '20'];
  const nobody = ['--otlp-url', 'http://127.0.0.1:1'];
  await demoCommand(io, () => UNTIL_MS).parseAsync([...args, ...nobody], { from: 'user' });
  t.match(io.outText(), /Sent \d+ runs of/);
  t.match(
    io.errText(),
    /Without the prompt support-reply[^]*may not make prompts[^]*Without a webhook[^]*Without 4 alerts[^]*Without logs and metrics .* No daemon answers at http:\/\/127\.0\.0\.1:1 .* or name its address with --otlp-url\./,
  );
});
