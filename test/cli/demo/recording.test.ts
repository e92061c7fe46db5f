import t from 'tap';
import { MAX_SPANS_PER_BATCH, packBatches, type RunBody, type SpanBody } from '../../../src/cli/demo/body.js';
import { history, readRecording, type HistoryOptions } from '../../../src/cli/demo/recording.js';
import { brokenRules } from './batch-rules.js';

const UNTIL_MS = Date.UTC(2026, 10, 20, 15, 30);
const OPTIONS: HistoryOptions = { key: 'a play', untilMs: UNTIL_MS, days: 3, runsPerDay: 60 };
const recording = readRecording();

function bodies(options: Partial<HistoryOptions> = {}): RunBody[] {
  return [...history(recording, { ...OPTIONS, ...options })].map((run) => run.body);
}

function costOf(run: RunBody): number {
  return run.spans.reduce((sum, span) => sum + Number(span.cost_usd ?? 0), 0);
}

function parentOf(run: RunBody, span: SpanBody): SpanBody | undefined {
  return run.spans.find((candidate) => candidate.span_id === span.parent_span_id);
}

void t.test('every run of the recording is valid at any time', async (t) => {
  for (const untilMs of [Date.UTC(2020, 1, 29, 23, 59), UNTIL_MS, Date.UTC(2040, 0, 1)]) {
    const batches = [...packBatches(bodies({ untilMs, days: 31, runsPerDay: 200 }))];
    t.same(batches.flatMap(brokenRules), []);
  }
});

void t.test('a batch has at most 100 spans, and packing keeps runs and order', async (t) => {
  const runs = bodies();
  const batches = [...packBatches(runs)];
  for (const batch of batches) {
    t.ok(batch.traces.reduce((sum, run) => sum + run.spans.length, 0) <= MAX_SPANS_PER_BATCH);
  }
  t.same(
    batches.flatMap((batch) => batch.traces.map((run) => run.trace.trace_id)),
    runs.map((run) => run.trace.trace_id),
  );
});

void t.test('the spans of a run form one tree within the times of their parents', async (t) => {
  for (const run of bodies()) {
    const roots = run.spans.filter((span) => span.parent_span_id === undefined);
    t.equal(roots.length, 1);
    t.equal(roots[0]?.type, 'agent');
    t.equal(roots[0]?.ended_at, run.trace.ended_at);
    for (const span of run.spans.filter((candidate) => candidate.parent_span_id !== undefined)) {
      const parent = parentOf(run, span);
      t.ok(parent, `the parent of ${span.name} is in the run`);
      t.ok(
        parent && parent.started_at <= span.started_at && (parent.ended_at ?? '') >= (span.ended_at ?? ''),
      );
    }
  }
});

void t.test('a key reproduces its runs, and another key shares no id', async (t) => {
  t.same(bodies(), bodies());
  const idsOf = (run: RunBody) => [
    run.trace.trace_id,
    run.trace.metadata?.['session_id'],
    ...run.spans.map((span) => span.span_id),
  ];
  const ids = new Set<unknown>(bodies().flatMap(idsOf));
  t.notOk(
    bodies({ key: 'another play' })
      .flatMap(idsOf)
      .some((id) => ids.has(id)),
  );
});

void t.test('replaying later moves all times, and the newest run ends then', async (t) => {
  const starts = (untilMs: number) =>
    bodies({ untilMs, days: 3 }).flatMap(({ trace, spans }) =>
      [trace, ...spans].map(({ started_at, ended_at = '' }) => [
        Date.parse(started_at) - untilMs,
        Date.parse(ended_at) - untilMs,
      ]),
    );
  const [first, second] = [starts(UNTIL_MS), starts(UNTIL_MS + 7 * 86_400_000)];
  t.same(second, first);
  t.equal(
    Math.max(...bodies({ runsPerDay: 200 }).map(({ trace }) => Date.parse(trace.ended_at ?? ''))),
    UNTIL_MS,
  );
});

void t.test('scales to the requested runs per day and days', async (t) => {
  for (const [days, runsPerDay] of [
    [30, 20],
    [30, 500],
    [75, 40],
  ] as const) {
    const runs = bodies({ days, runsPerDay });
    const share = runs.length / (days * runsPerDay);
    t.ok(share > 0.95 && share < 1.05, `${runs.length} runs of ${days} days with ${runsPerDay}`);
    const ids = runs.map((run) => run.trace.trace_id);
    t.equal(new Set(ids).size, ids.length);
  }
});

void t.test('no run is in the future, and ids are unique within a month', async (t) => {
  const runs = bodies({ days: 30 });
  const until = new Date(UNTIL_MS).toISOString();
  t.ok(runs.every((run) => (run.trace.ended_at ?? '') <= until));
  const ids = runs.flatMap((run) => [run.trace.trace_id, ...run.spans.map((span) => span.span_id)]);
  t.equal(new Set(ids).size, ids.length);
});

void t.test('a month has every agent, type, status and outcome of a dashboard', async (t) => {
  const runs = bodies({ days: 30, runsPerDay: 120 });
  const spans = runs.flatMap((run) => run.spans);
  const values = (list: readonly unknown[]) => new Set(list);
  t.equal(values(runs.map((run) => run.trace.agent)).size, 10);
  t.equal(values(spans.flatMap((span) => span.model ?? [])).size, 9);
  t.same(values(spans.map((span) => span.type)), values(['agent', 'llm', 'tool', 'http', 'db', 'custom']));
  t.same(values(runs.map((run) => run.trace.success)), values([true, false, undefined]));
  t.same(values(spans.map((span) => span.status)), values(['completed', 'failed', 'timed_out']));
  t.ok(runs.some((run) => run.trace.status === 'failed' && run.trace.error_message));
  t.ok(
    runs.some((run) => run.trace.total_cost_usd === undefined),
    'some leave totals to the daemon',
  );
  t.ok(
    runs.some((run) => run.spans.some((span) => span.type === 'agent' && span.parent_span_id)),
    'some agents call other agents',
  );
  t.ok(
    runs.some((run) =>
      run.spans.some(
        (span, index) => span.status !== 'completed' && run.spans[index + 1]?.name === span.name,
      ),
    ),
    'a failed step is retried',
  );
});

void t.test('some days are much busier, and every day has runs', async (t) => {
  const byDay = new Map<string, number>();
  for (const { trace } of bodies({ days: 30, runsPerDay: 200 })) {
    const day = trace.started_at.slice(0, 10);
    byDay.set(day, (byDay.get(day) ?? 0) + 1);
  }
  const counts = [...byDay.values()];
  t.equal(counts.length, 30);
  t.ok(Math.max(...counts) > 2 * Math.min(...counts), counts.join(', '));
});

void t.test('the last 24 hours contain an incident, a worse prompt and a costly release', async (t) => {
  const runs = bodies({ days: 30, runsPerDay: 200 });
  const dayAgo = new Date(UNTIL_MS - 86_400_000).toISOString();
  const isLast = ({ trace }: RunBody) => trace.started_at >= dayAgo;
  const mean = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const failed = (list: readonly RunBody[]) =>
    mean(list.map(({ trace }) => (trace.status === 'completed' ? 0 : 1)));
  const before = runs.filter((run) => !isLast(run));
  const last = runs.filter(isLast);
  const byHour = Array.from({ length: 24 }, (_, hour) =>
    last.filter(({ trace }) => Math.floor((UNTIL_MS - Date.parse(trace.started_at)) / 3_600_000) === hour),
  );
  const worstHour = Math.max(...byHour.filter((list) => list.length > 10).map(failed));
  t.ok(worstHour > 5 * failed(before), `${worstHour} and ${failed(before)}`);

  const solved = (version: number) =>
    mean(
      runs
        .filter(({ trace }) => trace.metadata?.['prompt_version'] === version && trace.success !== undefined)
        .filter(({ trace }) => trace.status === 'completed')
        .map(({ trace }) => (trace.success === true ? 1 : 0)),
    );
  t.ok(
    solved(3) < solved(2) - 0.15 && solved(3) < solved(1) - 0.15,
    `${solved(1)}, ${solved(2)}, ${solved(3)}`,
  );
  const versions = (list: readonly RunBody[]) =>
    new Set(list.map(({ trace }) => trace.metadata?.['prompt_version']).filter(Boolean));
  t.same([versions(before), versions(last)], [new Set([1, 2]), new Set([2, 3])]);

  const costly = last.filter(({ trace }) => trace.agent === 'research-assistant');
  const releases = new Set(costly.map(({ trace }) => trace.metadata?.['release']));
  const [old, young] = [...releases].map((release) =>
    mean(costly.filter(({ trace }) => trace.metadata?.['release'] === release).map(costOf)),
  );
  t.equal(releases.size, 2);
  t.ok((young ?? 0) > 1.5 * (old ?? 0), `${old} and ${young}`);
});

void t.test('sessions have several runs', async (t) => {
  const nodeCounts = new Map<unknown, number>();
  for (const { trace } of bodies({ days: 30, runsPerDay: 200 })) {
    const id = trace.metadata?.['session_id'];
    nodeCounts.set(id, (nodeCounts.get(id) ?? 0) + 1);
  }
  t.ok([...nodeCounts.values()].filter((count) => count > 2).length > 50);
});

void t.test('declared totals equal the sums of the spans', async (t) => {
  for (const run of bodies({ days: 1 }).filter((candidate) => candidate.trace.total_tokens !== undefined)) {
    const tokens = run.spans.reduce((sum, span) => sum + (span.total_tokens ?? 0), 0);
    const micros = run.spans.reduce((sum, span) => sum + Math.round(Number(span.cost_usd ?? 0) * 1e6), 0);
    t.equal(run.trace.total_tokens, tokens);
    const isPriced = run.spans.every((span) => span.model === undefined || span.cost_usd !== undefined);
    t.equal(run.trace.total_cost_usd, isPriced ? (micros / 1e6).toFixed(6) : undefined);
  }
});

void t.test('spans average 500 to 900 bytes of JSON', async (t) => {
  const runs = bodies({ days: 7 });
  const spans = runs.reduce((sum, run) => sum + run.spans.length, 0);
  const bytes = Buffer.byteLength(JSON.stringify(runs));
  t.ok(bytes / spans > 500 && bytes / spans < 900, `${Math.round(bytes / spans)} bytes`);
});
