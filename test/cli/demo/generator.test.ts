import fc from 'fast-check';
import t from 'tap';
import { MAX_SPANS_PER_BATCH, packBatches, type RunBody, type SpanBody } from '../../../src/cli/demo/body.js';
import { COSTLY_AGENT } from '../../../src/cli/demo/conditions.js';
import { history, plannedRuns, type HistoryOptions } from '../../../src/cli/demo/history.js';
import { PROFILES } from '../../../src/cli/demo/profiles.js';
import { finishRun } from '../../../src/cli/demo/run.js';
import { promptUsage } from '../../../src/cli/demo/stories/reply-prompt.js';
import { brokenRules } from './batch-rules.js';

const UNTIL_MS = Date.UTC(2026, 10, 20, 15, 30);
const OPTIONS: HistoryOptions = { seed: 'a seed', untilMs: UNTIL_MS, days: 3, runsPerDay: 60 };

function bodies(options: Partial<HistoryOptions> = {}): RunBody[] {
  return [...history({ ...OPTIONS, ...options })].map((run) => run.body);
}

function parentOf(run: RunBody, span: SpanBody): SpanBody | undefined {
  return run.spans.find((candidate) => candidate.span_id === span.parent_span_id);
}

void t.test('every body obeys the rules of ingestion, whatever the seed and the time', async (t) => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) }),
      fc.constantFrom(...PROFILES),
      (seed, startMs, profile) => {
        const run = finishRun(seed, { key: 'x', profile, startMs });
        return brokenRules({ traces: [run.body] }).length === 0;
      },
    ),
    { numRuns: 400 },
  );
  for (const batch of packBatches(bodies())) t.same(brokenRules(batch), []);
});

void t.test('a batch holds at most 100 spans, and packing loses and reorders nothing', async (t) => {
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

void t.test('the spans of a run form one tree, every span within the time of its parent', async (t) => {
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

void t.test('the same seed gives the same runs, another seed shares not one id', async (t) => {
  t.same(bodies(), bodies());
  const ids = new Set(bodies().map((run) => run.trace.trace_id));
  t.notOk(bodies({ seed: 'another seed' }).some((run) => ids.has(run.trace.trace_id)));
});

void t.test('asked again later, for more days or more runs, the runs of before are the same', async (t) => {
  const before = bodies();
  for (const change of [{ untilMs: UNTIL_MS + 5 * 3_600_000 }, { days: 6 }, { runsPerDay: 90 }]) {
    const after = new Map(bodies(change).map((run) => [run.trace.trace_id, run]));
    t.ok(after.size > before.length);
    for (const run of before) t.same(after.get(run.trace.trace_id), run);
  }
});

void t.test('no run is in the future, and no id comes twice in a month', async (t) => {
  const runs = bodies({ days: 30 });
  const until = new Date(UNTIL_MS).toISOString();
  t.ok(runs.every((run) => (run.trace.ended_at ?? '') <= until));
  const ids = runs.flatMap((run) => [run.trace.trace_id, ...run.spans.map((span) => span.span_id)]);
  t.equal(new Set(ids).size, ids.length);
  t.ok(runs.length <= plannedRuns({ ...OPTIONS, days: 30 }));
});

void t.test('a month shows every agent, type, status and fate that a dashboard has to show', async (t) => {
  const runs = bodies({ days: 30, runsPerDay: 120 });
  const spans = runs.flatMap((run) => run.spans);
  const values = (list: readonly unknown[]) => new Set(list);
  t.same(values(runs.map((run) => run.trace.agent)), values(PROFILES.map((profile) => profile.name)));
  t.same(values(spans.map((span) => span.type)), values(['agent', 'llm', 'tool', 'http', 'db', 'custom']));
  t.same(values(runs.map((run) => run.trace.success)), values([true, false, undefined]));
  t.same(values(spans.map((span) => span.status)), values(['completed', 'failed', 'timed_out']));
  t.ok(runs.some((run) => run.trace.status === 'failed' && run.trace.error_message));
  t.ok(
    runs.some((run) => run.trace.total_cost_usd === undefined),
    'some leave the sums to the daemon',
  );
  t.ok(
    runs.some((run) => run.spans.some((span) => span.type === 'agent' && span.parent_span_id)),
    'some agents have agents of their own',
  );
  t.ok(
    runs.some((run) =>
      run.spans.some(
        (span, index) => span.status !== 'completed' && run.spans[index + 1]?.name === span.name,
      ),
    ),
    'a failed step is tried again',
  );
});

void t.test('working days are busier than Sundays, and some day is an incident', async (t) => {
  const byDay = new Map<string, { runs: number; failed: number }>();
  for (const run of bodies({ days: 30, runsPerDay: 200 })) {
    const day = byDay.get(run.trace.started_at.slice(0, 10)) ?? { runs: 0, failed: 0 };
    byDay.set(run.trace.started_at.slice(0, 10), {
      runs: day.runs + 1,
      failed: day.failed + (run.trace.status === 'completed' ? 0 : 1),
    });
  }
  t.ok((byDay.get('2026-11-18')?.runs ?? 0) > 2 * (byDay.get('2026-11-15')?.runs ?? 0));
  const shares = [...byDay.values()].map((day) => day.failed / day.runs).sort((a, b) => a - b);
  const usual = shares[Math.floor(shares.length / 2)] ?? 0;
  t.ok((shares.at(-1) ?? 0) > 3 * usual);
  t.equal(byDay.size, 30);
});

void t.test(
  'the newest version of a prompt solves less, a release costs more, and visits have several runs',
  async (t) => {
    const runs = bodies({ days: 30, runsPerDay: 200 });
    const byVersion = new Map<number, { judged: number; good: number; runs: number }>();
    for (const run of runs) {
      const usage = promptUsage(run);
      if (usage === undefined) continue;
      t.ok(run.spans.some(({ span_id }) => span_id === usage.span_id));
      const seen = byVersion.get(usage.prompt_version) ?? { judged: 0, good: 0, runs: 0 };
      byVersion.set(usage.prompt_version, {
        runs: seen.runs + 1,
        judged: seen.judged + (run.trace.success === undefined ? 0 : 1),
        good: seen.good + (run.trace.success === true ? 1 : 0),
      });
    }
    const share = (version: number) => {
      const { judged, good } = byVersion.get(version) ?? { judged: 0, good: 0 };
      return good / judged;
    };
    t.same([...byVersion.keys()].sort(), [1, 2, 3]);
    t.ok(share(3) < share(2) - 0.05 && share(3) < share(1) - 0.05, `${share(1)}, ${share(2)}, ${share(3)}`);

    const costs = new Map<string, number[]>();
    for (const { trace, spans } of runs.filter((run) => run.trace.agent === COSTLY_AGENT)) {
      const cost = spans.reduce((sum, span) => sum + Number(span.cost_usd ?? 0), 0);
      const release = JSON.stringify(trace.metadata?.['release']);
      costs.set(release, [...(costs.get(release) ?? []), cost]);
    }
    const means = [...costs.values()]
      .filter((list) => list.length > 10)
      .map((list) => list.reduce((sum, cost) => sum + cost, 0) / list.length)
      .sort((a, b) => a - b);
    t.ok((means.at(-1) ?? 0) > 1.5 * (means[0] ?? 0), means.join(', '));

    const visits = new Map<unknown, number>();
    for (const { trace } of runs) {
      const id = trace.metadata?.['session_id'];
      visits.set(id, (visits.get(id) ?? 0) + 1);
    }
    t.ok([...visits.values()].filter((count) => count > 2).length > 50);
  },
);

void t.test('declared sums are the sums of the spans', async (t) => {
  for (const run of bodies({ days: 1 }).filter((candidate) => candidate.trace.total_tokens !== undefined)) {
    const tokens = run.spans.reduce((sum, span) => sum + (span.total_tokens ?? 0), 0);
    const micros = run.spans.reduce((sum, span) => sum + Math.round(Number(span.cost_usd ?? 0) * 1e6), 0);
    t.equal(run.trace.total_tokens, tokens);
    const isPriced = run.spans.every((span) => span.model === undefined || span.cost_usd !== undefined);
    t.equal(run.trace.total_cost_usd, isPriced ? (micros / 1e6).toFixed(6) : undefined);
  }
});

void t.test('spans are of realistic size: 500 to 900 bytes of JSON on average', async (t) => {
  const runs = bodies({ days: 7 });
  const spans = runs.reduce((sum, run) => sum + run.spans.length, 0);
  const bytes = Buffer.byteLength(JSON.stringify(runs));
  t.ok(bytes / spans > 500 && bytes / spans < 900, `${Math.round(bytes / spans)} bytes`);
});
