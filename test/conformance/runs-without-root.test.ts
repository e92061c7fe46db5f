import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import type { RunSummary } from '../../src/storage/contracts/runs.js';
import { aFollowingRecord } from '../storage/duckdb/following-records.js';
import { AT_NOON } from '../storage/duckdb/observing.js';
import { aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const WAITS = { idle_timeout_ms: 600_000, orphan_wait_ms: 30_000 };
const HINT = { agent_hint: { source: 'agent span', name: 'planner' } } as const;

/** Sends spans of undeclared runs of one user. */
class Sender {
  readonly #opened: OpenedTelemetry;
  readonly user: string;

  constructor(opened: OpenedTelemetry, user: string) {
    this.#opened = opened;
    this.user = user;
  }

  async send(traceId: string, ...spans: readonly Partial<SpanRecord>[]): Promise<void> {
    await this.judge(traceId, {}, ...spans);
  }

  /** Sends spans with the verdict of the topmost one. */
  async judge(
    traceId: string,
    verdict: Partial<Pick<TraceHeader, 'success' | 'outcome'>>,
    ...spans: readonly Partial<SpanRecord>[]
  ): Promise<void> {
    const records = spans.map((span) =>
      aSpanRecord(traceId, { parent_span_id: randomUUID(), ended_at: NOON + 3000, ...span }),
    );
    const items = [aFollowingRecord(records, { ...WAITS, ...verdict })];
    await this.#opened.store.writer.traces(
      { tenant: this.user, items },
      { receivedAt: this.#opened.clock.now() },
    );
  }

  async run(traceId: string): Promise<RunSummary> {
    const found = await this.#opened.store.runs.read(this.user, traceId);
    if (found === null) throw new Error('the run is not there');
    return found;
  }

  /** Advances the clock until the run has a status. */
  async became(traceId: string, status: RunSummary['status']): Promise<RunSummary> {
    for (;;) {
      const run = await this.run(traceId);
      if (run.status === status) return run;
      this.#opened.clock.advance(5000);
      await sleep(20);
    }
  }

  async agents(): Promise<string[]> {
    return (await this.#opened.store.agents.list(this.user)).map(
      ({ name, total_runs, failure_count }) => `${name} ${total_runs} ${failure_count}`,
    );
  }
}

function checkRuns(t: Test, open: OpenTelemetry): void {
  void t.test('a run whose parent is remote completes at once', async (t) => {
    const opened = await open(t);
    const sender = new Sender(opened, await opened.addUser());
    const [id, top] = [randomUUID(), randomUUID()];
    await sender.send(
      id,
      { ...HINT, span_id: top, parent_is_remote: true },
      { parent_span_id: top, parent_is_remote: true, ended_at: NOON + 5000 },
    );
    t.match(await sender.run(id), { status: 'completed', ended_at: NOON + 5000, duration_ms: 5 });
    await opened.caughtUp();
    t.same(await sender.agents(), ['planner 1 0']);
    await opened.reopen();
    await sender.send(id, { parent_span_id: top, ended_at: NOON + 9000 });
    t.match(await sender.run(id), { status: 'completed', duration_ms: 9 }, 'its end follows later spans');
  });

  void t.test('the verdict of a root replaces one of a span with a remote parent', async (t) => {
    const opened = await open(t);
    const sender = new Sender(opened, await opened.addUser());
    const remote = { success: true, outcome: 'found' };
    const root = { parent_span_id: null };
    for (const [verdict, expected] of [
      [
        { success: false, outcome: 'refused' },
        { success: false, outcome: 'refused' },
      ],
      [{ success: false }, { success: false, outcome: null }],
      [{ outcome: 'read' }, { success: true, outcome: 'read' }],
      [{}, remote],
    ] as const) {
      const id = randomUUID();
      await sender.judge(id, remote, { parent_is_remote: true });
      t.match(await sender.run(id), remote);
      await sender.judge(id, verdict, root);
      t.match(await sender.run(id), expected);
      await sender.judge(id, { success: !expected.success, outcome: 'late' }, { parent_is_remote: true });
      t.match(await sender.run(id), { success: expected.success }, 'the first one stays');
    }
    const id = randomUUID();
    await sender.judge(id, remote, { parent_is_remote: true });
    await opened.store.runs.setOutcome(sender.user, id, { success: true });
    await sender.judge(id, { success: false, outcome: 'refused' }, root);
    t.match(await sender.run(id), remote, "the owner's verdict stays");
  });

  void t.test('a run whose parent is missing completes once after the wait', async (t) => {
    const opened = await open(t);
    const sender = new Sender(opened, await opened.addUser());
    await opened.control.events.want('test', ['*'], Number.MAX_SAFE_INTEGER);
    const start = await opened.control.events.open('test');
    const events = async (atLeast: number): Promise<string[]> => {
      for (;;) {
        const { events: found } = await opened.control.events.read(start, { events: 100, bytes: 1e6 });
        if (found.length >= atLeast) return found.map(({ event }) => event.type);
        await sleep(10);
      }
    };
    const notices: string[] = [];
    const watch = (): unknown =>
      opened.store.arrivals.watch(sender.user, { traces: (ids) => notices.push(...ids) });
    const [id, parent, unended] = [randomUUID(), randomUUID(), randomUUID()];
    await sender.send(unended, { status: 'running', ended_at: null });
    await sender.send(id, { ...HINT, parent_span_id: parent });
    opened.clock.advance(20_000);
    await opened.reopen();
    watch();
    t.match(await sender.run(id), { status: 'running', ended_at: null });
    t.same(await sender.agents(), []);
    t.match(await sender.became(id, 'completed'), { ended_at: NOON + 3000, duration_ms: 3 });
    await opened.caughtUp();
    t.same(await sender.agents(), ['planner 1 0']);
    t.same(await events(2), ['agent.created', 'trace.completed']);
    t.ok(notices.includes(id), 'open pages are notified');
    const agentId = (await sender.run(id)).agent_id;
    const target = { target: { userId: sender.user, agentId }, runs: true, cost: false, activity: false };
    const { targets } = await opened.store.stats.observe({ ...AT_NOON, now: NOON + 1e6, targets: [target] });
    t.match(targets[0]?.window, { finished: 1, failed: 0 });

    await sender.send(id, { parent_span_id: parent, ended_at: NOON + 4000 });
    t.equal((await sender.run(id)).status, 'running', 'it may go on');
    t.match(await sender.became(id, 'completed'), { duration_ms: 4 });
    await sender.send(id, { span_id: parent, parent_span_id: null, status: 'failed', error_message: 'no' });
    t.match(await sender.run(id), { status: 'failed', error_message: 'no', duration_ms: 4 });
    const all = ['agent.created', 'trace.completed', 'trace.failed'];
    t.same(await events(all.length), all, 'a failure after the end');
    const other = { parent_span_id: null, started_at: NOON - 5 };
    await sender.send(id, other);
    await opened.reopen();
    await sender.send(id, { ...other, started_at: NOON - 3 });
    t.equal((await sender.run(id)).status, 'completed', 'another root decides');
    await sender.send(id, { ...other, started_at: NOON - 9, status: 'failed', error_message: 'no' });
    t.equal((await sender.run(unended)).status, 'running', 'it has a span that has not ended');
    t.match(await sender.became(unended, 'timed_out'), { ended_at: NOON });
    t.equal((await sender.run(id)).status, 'failed');
    t.same(
      await events(all.length + 1),
      [...all, 'agent.created'],
      'each once; the agent is of the other run',
    );
  });
}

await onEveryTelemetry(t, checkRuns);
