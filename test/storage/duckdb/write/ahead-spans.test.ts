import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { RUN_SIZE } from '../../../../src/storage/duckdb/write/run-size.js';
import { TraceId } from '../../../../src/storage/duckdb/segments/trace-id.js';
import { IncomingBatch } from '../../../../src/storage/incoming/incoming-batch.js';
import { hasDifferences } from '../../../../src/storage/contracts/service-map.js';
import { BAD, EventEngine, describeEvent, type Listener } from '../event-engine.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { textOf, type ShownSpan } from '../shown-spans.js';
import { tracesMessage } from '../traces-message.js';

const KIB = 1024;
const BUDGET = 100 * KIB;
const OPTIONS = {
  runSize: { ...RUN_SIZE, few: 3, commitPayloadBytes: BUDGET },
  segmentSize: { rows: 1e6, bytes: 1e9 },
};

/** A user with running runs. */
class Runs {
  readonly engine: EventEngine;
  readonly user: Listener;
  readonly traces: readonly TraceRecord[];
  /** Id of the span that only the endings contain. */
  readonly #another = randomUUID();

  private constructor(engine: EventEngine, user: Listener, traces: readonly TraceRecord[]) {
    this.engine = engine;
    this.user = user;
    this.traces = traces;
  }

  /** @param sizes input lengths of the spans, by trace */
  static async start(engine: EventEngine, sizes: readonly (readonly number[])[]): Promise<Runs> {
    const user = await engine.addUser(['*']);
    const traces = sizes.map((ofTrace, i): TraceRecord => {
      const trace = aHeader({ status: 'running', agent: `agent-${String(i)}` });
      const spans = ofTrace.map((length, n) =>
        aSpanRecord(trace.trace_id, {
          status: 'running',
          name: `call ${String(n)}`,
          model: 'small',
          input_data: { text: String(n % 10).repeat(length) },
        }),
      );
      return { trace, spans };
    });
    const runs = new Runs(engine, user, traces);
    for (const trace of traces) await runs.write([trace]);
    return runs;
  }

  /** Writes as a user with a quota. */
  async write(items: readonly TraceRecord[]): Promise<void> {
    const { tenant, wanted } = this.user;
    const batch = { items: [...items], service_map: deriveBatch([...items]) };
    const message = tracesMessage(tenant, batch, NOON, { counted: { tenant, at: NOON, limit: 1e6 }, wanted });
    await this.engine.parts.writer.write({ kind: 'batch', batch: new IncomingBatch(message) });
  }

  /** Ends all runs; the first trace gets one more span. */
  endings(changes: Partial<SpanRecord> = {}): TraceRecord[] {
    return this.traces.map(({ trace, spans }, i) => {
      const ended = spans.map(({ span_id, trace_id, type, name, started_at }) =>
        aSpanRecord(trace_id, {
          ...{ span_id, type, name, started_at, status: 'completed', ended_at: NOON + 1000 },
          ...{ total_tokens: 2, output_data: { said: name }, ...changes },
        }),
      );
      const more = i === 0 ? [aSpanRecord(trace.trace_id, { span_id: this.#another, total_tokens: 2 })] : [];
      return { trace: { ...trace, status: 'completed', ended_at: NOON + 1000 }, spans: [...ended, ...more] };
    });
  }

  get used(): number {
    return this.engine.parts.usage.read(this.engine.asking(this.user.tenant), NOON).used;
  }

  /** Checks that all runs are complete after their endings. */
  async areEnded(t: Test): Promise<void> {
    const { runs } = this.engine.parts;
    const asking = this.engine.asking(this.user.tenant);
    for (const [i, { trace, spans }] of this.traces.entries()) {
      const found = (await runs.read(asking, trace.trace_id))?.value;
      const count = spans.length + (i === 0 ? 1 : 0);
      t.match(found?.trace, { status: 'completed', span_count: count, total_tokens: 2 * count });
      const shown: ShownSpan[] = [];
      for (let page = found?.page; page !== undefined;) {
        shown.push(...(JSON.parse(`[${textOf(page)}]`) as ShownSpan[]));
        page = page.next === null ? undefined : (await runs.spans(asking, page.next)).value;
      }
      const stored = new Map(shown.map((span) => [span.span_id, span]));
      t.equal(stored.size, count);
      for (const { span_id, name, input_data } of spans) {
        const span = stored.get(span_id);
        t.equal(span?.status, 'completed');
        t.strictSame(span?.input_data, input_data, 'the input is from the first message');
        t.strictSame(span?.output_data, { said: name }, 'the output from the second');
      }
    }
    t.equal(this.used, this.traces.flatMap(({ spans }) => spans).length + 1, 'each span is counted once');
    const ends = (await this.engine.events())
      .map(describeEvent)
      .filter((line) => line.startsWith('trace.completed'));
    for (const { trace } of this.traces)
      t.equal(ends.filter((line) => line.endsWith(trace.trace_id)).length, 1, 'its end was emitted once');
    const rebuilt = await this.engine.parts.housekeeping.rebuildMap(true);
    t.ok(rebuilt !== null && !hasDifferences(rebuilt));
  }
}

/** Four spans of 30 KiB per trace: three and a fraction of the budget. */
const SIZES = Array.from({ length: 3 }, () => [30, 30, 30, 30].map((size) => size * KIB));

void t.test('splits a batch that completes more than a commit may read', async (t) => {
  const engine = await EventEngine.open(t, OPTIONS);
  const runs = await Runs.start(engine, SIZES);
  const others = await Runs.start(engine, [[10]]);
  const append = { ...BAD, rows: () => [] };
  engine.reports.length = 0;
  const done: string[] = [];
  const note = (name: string) => (): unknown => done.push(name);
  await Promise.all([
    runs.write(runs.endings()).then(note('large')),
    others.write(others.endings()).then(note('neighbour')),
    engine.parts.writer.write({ kind: 'append', append }).then(note('append')),
  ]);
  t.equal(done.at(-1), 'large', 'the large batch finishes last');
  // Twelve spans, three per commit: three commits ahead and the last with the batch itself; plus one of the others.
  t.equal(engine.reports.length, 3 + 1 + 1);
  await runs.areEnded(t);
  await others.areEnded(t);
  // All are already known to be complete.
  engine.reports.length = 0;
  await runs.write(runs.endings());
  t.equal(engine.reports.length, 1);
  await engine.reopen();
  await runs.areEnded(t);
  await engine.settle();
  await runs.areEnded(t);
});

void t.test('charges uncached runs once for loading', async (t) => {
  const reloads = { ...RUN_SIZE.reloads, loaded: { burst: SIZES.flat().length, perSecond: 1e-9 } };
  const engine = await EventEngine.open(t, { ...OPTIONS, runSize: { ...OPTIONS.runSize, reloads } });
  const runs = await Runs.start(engine, SIZES);
  await engine.reopen();
  engine.reports.length = 0;
  await runs.write(runs.endings());
  t.equal(engine.reports.length, 3 + 1);
  await runs.areEnded(t);
});

void t.test('keeps spans read ahead while a run of the same commit is remapped', async (t) => {
  const engine = await EventEngine.open(t, OPTIONS);
  const runs = await Runs.start(engine, [
    [10, 20, 10, 20, 10],
    [10, 10],
  ]);
  const { tenant } = runs.user;
  const remaps = runs.traces.map(async ({ trace }) => {
    const { words } = new TraceId(trace.trace_id);
    await engine.parts.writer.write({ kind: 'remap', tenant, words });
  });
  engine.reports.length = 0;
  await Promise.all([...remaps, runs.write(runs.endings())]);
  t.equal(engine.reports.length, 1);
  await runs.areEnded(t);
});

void t.test('reads a span larger than the commit budget alone', async (t) => {
  const engine = await EventEngine.open(t, OPTIONS);
  const runs = await Runs.start(engine, [[300 * KIB, 10 * KIB, 300 * KIB], [10]]);
  engine.reports.length = 0;
  await runs.write(runs.endings());
  // The small span before the second large one shares its commit: the budget may be exceeded by one span.
  t.ok(engine.reports.length >= 3);
  await runs.areEnded(t);
});

void t.test('commits batches that exceed the budget together one after the other', async (t) => {
  const engine = await EventEngine.open(t, OPTIONS);
  const all = [
    await Runs.start(engine, SIZES),
    await Runs.start(engine, SIZES.slice(1)),
    await Runs.start(engine, [[10]]),
  ];
  engine.reports.length = 0;
  await Promise.all(all.map((runs) => runs.write(runs.endings())));
  for (const runs of all) await runs.areEnded(t);
  t.ok(engine.reports.length >= 4 + 2);
});

void t.test('links prompts of completed spans once', async (t) => {
  const engine = await EventEngine.open(t, OPTIONS);
  const runs = await Runs.start(engine, SIZES);
  const { prompts } = engine.parts;
  await runs.write(runs.endings({ prompt: { name: 'p', version: 1 } }));
  await runs.areEnded(t);
  const totals = await prompts.stats.totals(engine.read, [1]);
  t.match(totals.get(1), { traces: SIZES.length });
});

void t.test('keeps stored data when a commit after an early commit fails', async (t) => {
  const engine = await EventEngine.open(t, OPTIONS);
  const runs = await Runs.start(engine, SIZES);
  const { parts } = engine;
  const bad = Array.from({ length: 2 }, () =>
    t.rejects(parts.writer.write({ kind: 'append', append: BAD }), { code: 'internal_error' }),
  );
  await Promise.all([...bad, runs.write(runs.endings())]);
  await runs.areEnded(t);

  // Also when the batch itself fails on its quota and is retried.
  const again = await Runs.start(engine, SIZES);
  const { tenant, wanted } = again.user;
  const counted = { tenant, at: NOON, limit: again.used };
  const message = tracesMessage(tenant, { items: again.endings() }, NOON, { counted, wanted });
  const refused = parts.writer.write({ kind: 'batch', batch: new IncomingBatch(message) });
  await t.rejects(refused, { code: 'quota_exceeded' });
  await again.write(again.endings());
  await again.areEnded(t);
  await engine.reopen();
  await again.areEnded(t);
});
