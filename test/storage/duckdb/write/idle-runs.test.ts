import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceHeader, TraceRecord } from '../../../../src/signal/trace.js';
import type { RunSummary } from '../../../../src/storage/contracts/runs.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { aFollowingRecord } from '../following-records.js';
import { TestStore } from '../test-store.js';

const MINUTE_MS = 60_000;
const MINUTE = MINUTE_MS * 1000;

/** A tenant of a store that shares the clock of the store. */
class Sender {
  readonly #opened: TestStore;
  readonly tenant: string;

  private constructor(opened: TestStore, tenant: string) {
    this.#opened = opened;
    this.tenant = tenant;
  }

  static async of(opened: TestStore): Promise<Sender> {
    return new Sender(opened, await opened.addUser());
  }

  /** Sends spans of an undeclared run. */
  async spans(idleMinutes: number | null, ...spans: readonly SpanRecord[]): Promise<string> {
    const idle = { idle_timeout_ms: idleMinutes === null ? null : idleMinutes * MINUTE_MS };
    const record = aFollowingRecord(spans, idle);
    await this.record(record);
    return record.trace.trace_id;
  }

  async record({ trace, spans }: TraceRecord): Promise<void> {
    await this.#write(trace, spans);
  }

  async header(changes: Partial<TraceHeader>): Promise<string> {
    const trace = aHeader(changes);
    await this.#write(trace, []);
    return trace.trace_id;
  }

  async run(traceId: string): Promise<RunSummary> {
    const found = await this.#opened.store.runs.read(this.tenant, traceId);
    if (found === null) throw new Error('the run is not there');
    return found;
  }

  async agents(): Promise<string[]> {
    return (await this.#opened.store.agents.list(this.tenant)).map(
      ({ name, total_runs }) => `${name} ${total_runs}`,
    );
  }

  /** Waits for the time-out, advancing the clock a few seconds per check of the store. */
  async timedOut(traceId: string): Promise<RunSummary> {
    return await this.became('timed_out', traceId);
  }

  async became(status: RunSummary['status'], traceId: string): Promise<RunSummary> {
    for (let reads = 1; ; reads++) {
      const run = await this.run(traceId);
      if (run.status === status) return run;
      if (reads % 5 === 0) this.#opened.settings.clock.advance(5000);
    }
  }

  async #write(trace: TraceHeader, spans: SpanRecord[]): Promise<void> {
    const receivedAt = this.#opened.settings.clock.now();
    await this.#opened.store.writer.traces(
      { tenant: this.tenant, items: [{ trace, spans }] },
      { receivedAt },
    );
  }
}

/** A span that has not ended, although its end may be known. */
function child(traceId: string, changes: Partial<SpanRecord> = {}): SpanRecord {
  const open = { status: 'running', parent_span_id: randomUUID(), ended_at: NOON + 1000 } as const;
  return aSpanRecord(traceId, { ...open, ...changes });
}

function root(traceId: string, changes: Partial<SpanRecord> = {}): SpanRecord {
  return child(traceId, { parent_span_id: null, status: 'completed', ...changes });
}

void t.test('times out an idle run at its latest end', async (t) => {
  const opened = await TestStore.open(t);
  const { clock } = opened.settings;
  const sender = await Sender.of(opened);
  const other = await Sender.of(opened);
  const id = randomUUID();
  await sender.spans(30, child(id), child(id, { started_at: NOON - 500, ended_at: NOON + 2000 }));
  await other.spans(60, child(id));
  const long = await sender.spans(60, child(randomUUID(), { status: 'running', ended_at: null }));
  const never = await sender.spans(null, child(randomUUID()));
  const ended = await sender.spans(1, root(randomUUID(), { status: 'failed' }));
  const declared = await sender.header({ status: 'running' });

  clock.advance(20 * MINUTE_MS);
  t.equal((await sender.run(id)).status, 'running');
  clock.advance(10 * MINUTE_MS);
  const out = { status: 'timed_out', ended_at: NOON + 2000, duration_ms: 2.5, error_message: null };
  t.match(await sender.timedOut(id), out);
  t.equal((await sender.run(long)).status, 'running', 'its time-out is longer');
  t.equal(
    (await other.run(id)).status,
    'running',
    'a run with the same id of another tenant has its own time-out',
  );

  clock.advance(30 * MINUTE_MS);
  t.match(await sender.timedOut(long), { ended_at: NOON }, 'without an end, the start counts');
  await other.timedOut(id);
  t.equal((await sender.run(never)).status, 'running');
  t.equal((await sender.run(declared)).status, 'running');
  t.equal((await sender.run(ended)).status, 'failed');
  t.match(await sender.run(id), out);
  await opened.reopen();
  t.match(await sender.run(id), out);
});

void t.test('new spans restart the time-out, and repeats do not', async (t) => {
  const opened = await TestStore.open(t);
  const { clock } = opened.settings;
  const sender = await Sender.of(opened);
  const [id, repeated] = [randomUUID(), randomUUID()];
  const again = child(repeated);
  await sender.spans(30, child(id));
  await sender.spans(30, again);
  clock.advance(25 * MINUTE_MS);
  await sender.spans(30, child(id));
  await sender.spans(30, again);
  clock.advance(5 * MINUTE_MS);
  await sender.timedOut(repeated);
  t.equal((await sender.run(id)).status, 'running');
  clock.advance(25 * MINUTE_MS);
  await sender.timedOut(id);
});

void t.test('later data replaces a time-out', async (t) => {
  const opened = await TestStore.open(t);
  const { clock } = opened.settings;
  const sender = await Sender.of(opened);
  const ids = Array.from({ length: 5 }, () => randomUUID());
  for (const id of ids) await sender.spans(10, child(id));
  clock.advance(10 * MINUTE_MS);
  for (const id of ids) await sender.timedOut(id);
  for (const restarts of [false, true]) {
    if (restarts) await opened.reopen();
    const [late = '', finished = '', declared = '', judged = '', untouched = ''] = ids;
    await sender.spans(10, child(late, { ended_at: NOON + MINUTE }));
    t.match(await sender.run(late), { status: 'running', ended_at: null, duration_ms: null });
    await sender.spans(10, root(finished, { ended_at: NOON + 3000, error_message: 'x' }));
    t.match(await sender.run(finished), {
      status: 'completed',
      ended_at: NOON + 3000,
      error_message: 'x',
    });
    await sender.header({ trace_id: declared, status: 'failed', agent: 'a', ended_at: NOON + 5 });
    t.match(await sender.run(declared), { status: 'failed', ended_at: NOON + 5, agent_name: 'a' });
    await opened.store.runs.setOutcome(sender.tenant, judged, { success: false, outcome: 'lost' });
    t.match(await sender.run(judged), { status: 'timed_out', success: false, outcome: 'lost' });
    t.equal((await sender.run(untouched)).status, 'timed_out');

    clock.advance(10 * MINUTE_MS);
    t.match(await sender.timedOut(late), { ended_at: NOON + MINUTE }, 'it times out again');
    t.equal((await sender.run(finished)).status, 'completed');
  }
});

void t.test('counts idle time before a restart but not downtime', async (t) => {
  const opened = await TestStore.open(t);
  const { clock } = opened.settings;
  const sender = await Sender.of(opened);
  const sooner = await sender.spans(50, child(randomUUID()));
  const later = await sender.spans(80, child(randomUUID()));
  clock.advance(40 * MINUTE_MS);
  const last = await sender.spans(50, child(randomUUID()));
  await opened.close();
  clock.advance(600 * MINUTE_MS);
  await opened.start();
  const fresh = await sender.spans(15, child(randomUUID()));
  clock.advance(9 * MINUTE_MS);
  t.equal((await sender.run(sooner)).status, 'running');
  clock.advance(MINUTE_MS);
  await sender.timedOut(sooner);
  t.equal(
    (await sender.run(fresh)).status,
    'running',
    'a run received since the start has its full time-out',
  );
  clock.advance(5 * MINUTE_MS);
  await sender.timedOut(fresh);
  t.equal((await sender.run(later)).status, 'running');
  clock.advance(25 * MINUTE_MS);
  await sender.timedOut(later);
  t.equal((await sender.run(last)).status, 'running');
  clock.advance(10 * MINUTE_MS);
  await sender.timedOut(last);
});

void t.test('a run that only awaits a root completes after a shorter wait', async (t) => {
  const opened = await TestStore.open(t);
  const { clock } = opened.settings;
  const sender = await Sender.of(opened);
  const [id, parent] = [randomUUID(), randomUUID()];
  const waits = { idle_timeout_ms: 60 * MINUTE_MS, orphan_wait_ms: 30_000 };
  const send = (...spans: readonly SpanRecord[]) => sender.record(aFollowingRecord(spans, waits));
  const hint = { agent_hint: { source: 'agent span', name: 'planner' } } as const;
  const top = child(id, { ...hint, status: 'completed', parent_span_id: parent });
  await send(top, child(id, { span_id: parent, parent_span_id: top.span_id, status: 'completed' }));
  // Their parents are each other's: no root can come. The other one has a span that has not ended.
  const open = randomUUID();
  await send(child(open, { status: 'completed' }), child(open));
  clock.advance(20_000);
  t.equal((await sender.run(id)).status, 'running');
  await opened.close();
  clock.advance(MINUTE_MS);
  await opened.start();
  t.equal((await sender.run(id)).status, 'running', 'the wait goes on where it was');
  t.same(await sender.agents(), []);
  t.match(await sender.became('completed', id), { ended_at: NOON + 1000, duration_ms: 1 });
  t.same(await sender.agents(), ['planner 1'], 'its agent is listed');
  t.equal((await sender.run(open)).status, 'running');

  const late = { parent_span_id: top.span_id, status: 'completed', ended_at: NOON + 5000 } as const;
  await send(child(id, late));
  t.match(await sender.run(id), { status: 'running', ended_at: null }, 'it waits again');
  t.match(await sender.became('completed', id), { ended_at: NOON + 5000, duration_ms: 5 });
  const failed = { status: 'failed', error_message: 'no', started_at: NOON - 1 } as const;
  await send(root(id, failed));
  for (const restarts of [false, true]) {
    if (restarts) await opened.reopen();
    t.match(await sender.run(id), { status: 'failed', error_message: 'no', duration_ms: 5.001 });
  }
  clock.advance(60 * MINUTE_MS);
  await sender.became('timed_out', open);
  t.equal((await sender.run(id)).status, 'failed');
});

void t.test('a clock jump does not time out runs', async (t) => {
  const opened = await TestStore.open(t);
  const { clock } = opened.settings;
  const sender = await Sender.of(opened);
  const run = await sender.spans(30, child(randomUUID()));
  const due = await sender.spans(10, child(randomUUID()));
  clock.advance(10 * MINUTE_MS);
  // The clock is checked before and after the jump.
  await sender.timedOut(due);
  for (const days of [4000, 1]) {
    clock.advance(days * 24 * 60 * MINUTE_MS);
    const next = await sender.spans(1, child(randomUUID()));
    clock.advance(MINUTE_MS);
    await sender.timedOut(next);
    t.equal((await sender.run(run)).status, 'running');
  }
  clock.advance(20 * MINUTE_MS);
  await sender.timedOut(run);
});

void t.test('times out more runs together than fit into one commit', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1500, bytes: 1e9 } });
  const sender = await Sender.of(opened);
  const items = Array.from({ length: 2100 }, (_, i) =>
    aFollowingRecord([child(randomUUID(), { started_at: NOON + i })], { idle_timeout_ms: MINUTE_MS }),
  );
  await opened.store.writer.traces({ tenant: sender.tenant, items }, { receivedAt: NOON });
  await opened.store.settled();
  opened.settings.clock.advance(MINUTE_MS);
  const open = { status: 'running' as const };
  for (let reads = 1; ; reads++) {
    const { count } = await opened.store.runs.list(sender.tenant, open, { offset: 0, limit: 1 });
    if (count === 0) break;
    if (reads % 20 === 0) opened.settings.clock.advance(5000);
  }
  t.notMatch(opened.settings.logger.lines, /failed/);
});

void t.test('creates an agent once its run is certain to belong to it', async (t) => {
  const opened = await TestStore.open(t);
  const { clock } = opened.settings;
  const sender = await Sender.of(opened);
  const other = await Sender.of(opened);
  const service = { agent_hint: { source: 'service.name', name: 'service' } } as const;
  const planner = { agent_hint: { source: 'agent span', name: 'planner' } } as const;
  const [id, lost] = [randomUUID(), randomUUID()];
  for (const one of [sender, other]) await one.spans(60, child(id, service));
  const named = await sender.run(id);
  t.equal(named.agent_name, 'service', 'the provisional name');
  t.same(await sender.agents(), []);
  t.equal(await opened.store.agents.read(sender.tenant, named.agent_id), null);
  const ofAgent = await opened.store.runs.list(
    sender.tenant,
    { agent_id: named.agent_id },
    { offset: 0, limit: 9 },
  );
  t.equal(ofAgent.count, 1);

  clock.advance(1000);
  await sender.spans(60, root(id, { ...service, ...planner }));
  t.equal((await sender.run(id)).agent_name, 'planner');
  t.same(await sender.agents(), ['planner 1']);
  t.same(await other.agents(), []);
  t.match(await opened.store.agents.list(sender.tenant), [{ created_at: clock.now() }]);

  await sender.spans(60, child(lost, service));
  t.same(await sender.agents(), ['planner 1']);
  clock.advance(60 * MINUTE_MS);
  await sender.timedOut(lost);
  await other.timedOut(id);
  t.same((await sender.agents()).sort(), ['planner 1', 'service 1']);
  t.same(await other.agents(), ['service 1']);

  await other.spans(60, root(id, planner));
  t.same(await other.agents(), ['planner 1'], 'the agent that lost its only run is not listed');
  for (const restarts of [false, true]) {
    if (restarts) await opened.reopen();
    t.same((await sender.agents()).sort(), ['planner 1', 'service 1']);
    t.same(await other.agents(), ['planner 1']);
    t.equal((await sender.run(lost)).agent_id, named.agent_id, 'an agent keeps its id');
  }
});
