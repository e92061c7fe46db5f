import t from 'tap';
import type { RunBody, SpanBody } from '../../../src/cli/demo/body.js';
import { LiveRun, LiveTraffic } from '../../../src/cli/demo/live.js';
import { playRun, readRecording, type PlayedRun } from '../../../src/cli/demo/recording.js';
import { brokenRules } from './batch-rules.js';

const START_MS = Date.UTC(2026, 10, 20, 9);
const recording = readRecording();

function someRun(agent: string): PlayedRun {
  const index = recording.runs.findIndex(
    ({ run: { trace } }) => trace.agent === agent && trace.status === 'completed',
  );
  return playRun(recording, index, START_MS, 'live');
}

/** The state of a store after the messages: the last header and the last message of each span. */
function replay(messages: readonly RunBody[]): { trace: RunBody['trace'] | undefined; spans: SpanBody[] } {
  const spans = new Map<string, SpanBody>();
  for (const message of messages) for (const span of message.spans) spans.set(span.span_id, span);
  return { trace: messages.at(-1)?.trace, spans: [...spans.values()] };
}

void t.test('the messages add up to the whole run and repeat only the root', async (t) => {
  for (const agent of ['research-assistant', 'support-triage', 'code-reviewer']) {
    const run = someRun(agent);
    const live = new LiveRun(run);
    t.equal(live.pending(START_MS - 1), undefined, 'not before it starts');
    const messages: RunBody[] = [];
    for (let nowMs = START_MS; !live.isOver; nowMs += 400) {
      const run = live.pending(nowMs);
      if (run) messages.push(run);
      if (run?.trace.status === 'running') t.equal(run.trace.ended_at, undefined);
      for (const span of run?.spans ?? []) t.ok(Date.parse(span.ended_at ?? span.started_at) <= nowMs);
    }
    for (const message of messages) t.same(brokenRules({ traces: [message] }), []);
    t.ok(messages.length > 2);
    t.equal(messages[0]?.trace.status, 'running');
    t.equal(messages[0]?.spans[0]?.status, 'running');
    const { trace, spans } = replay(messages);
    t.same(trace, run.body.trace);
    const byId = (a: SpanBody, b: SpanBody) => a.span_id.localeCompare(b.span_id);
    t.same(spans.sort(byId), [...run.body.spans].sort(byId));
    const sent = messages.reduce((sum, message) => sum + message.spans.length, 0);
    t.equal(sent, run.body.spans.length + 1);
    t.equal(live.pending(START_MS + 1e9), undefined, 'nothing after the end');
  }
});

void t.test('a run that ended between two polls is one message', async (t) => {
  const run = someRun('content-moderator');
  t.same(new LiveRun(run).pending(run.endMs), run.body);
});

void t.test('a cancelled run ends as failed, but only if it was started', async (t) => {
  const run = someRun('research-assistant');
  t.equal(new LiveRun(run).cancel(START_MS), undefined);
  const live = new LiveRun(run);
  live.pending(START_MS);
  const end = live.cancel(START_MS + 100);
  t.match(end?.trace, { status: 'failed', success: false, outcome: 'cancelled', duration_ms: 100 });
  t.same(brokenRules({ traces: end ? [end] : [] }), []);
  t.match(end?.spans[0], { status: 'failed', ended_at: new Date(START_MS + 100).toISOString() });
  t.equal(live.cancel(START_MS + 200), undefined);
});

void t.test('traffic keeps its rate, and sessions have separate runs', async (t) => {
  const ids = (startMs: number) => {
    const traffic = new LiveTraffic(recording, { key: `live ${startMs}`, startMs, runsPerMinute: 60 });
    const seen = new Set<string>();
    for (let nowMs = startMs; nowMs <= startMs + 300_000; nowMs += 5000) {
      for (const run of traffic.pending(nowMs)) seen.add(run.trace.trace_id);
    }
    t.ok(traffic.started > 200 && traffic.started < 400, `${traffic.started} in five minutes`);
    t.ok(traffic.underWay > 0);
    t.ok(traffic.cancel(startMs + 300_000).every((run) => run.trace.status === 'failed'));
    t.equal(traffic.underWay, 0);
    return seen;
  };
  const [first, second] = [ids(START_MS), ids(START_MS + 1)];
  t.notOk([...first].some((id) => second.has(id)));
});
