import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type { StoredBytes } from '../../src/storage/contracts/telemetry-writer.js';
import type { MeasuredBytes } from '../../src/storage/shared/measured-bytes.js';
import type { PromptVersionStats } from '../../src/storage/contracts/prompts.js';
import { NOBODY } from '../storage/duckdb/meta-records.js';
import { addPrompts } from '../storage/duckdb/prompt-oracle.js';
import { aPromptedRun, P1, PromptStore } from '../storage/duckdb/prompt-store.js';
import { aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const UNUSED: Omit<PromptVersionStats, 'version'> = {
  total_traces: 0,
  success_count: 0,
  failure_count: 0,
  avg_cost: null,
  avg_latency_ms: null,
  p95_latency_ms: null,
};

function checkPromptRuns(t: Test, open: OpenTelemetry): void {
  void t.test('an unused version has zeros and nulls; an unknown one is reported', async (t) => {
    const store = await PromptStore.of(await open(t));
    const { tenant } = store;
    t.strictSame(await store.opened.store.prompts.compare(tenant, 'p'), [
      { version: 2, ...UNUSED },
      { version: 1, ...UNUSED },
    ]);
    t.equal(await store.opened.store.prompts.compare(tenant, 'P'), null);
    t.equal(await store.link(randomUUID(), null, 3), false);
    const stranger = await store.opened.addUser();
    t.equal(await store.opened.store.prompts.compare(stranger, 'p'), null, 'a prompt of another user');
    const link = { prompt_name: 'p', prompt_version: 1, trace_id: randomUUID(), span_id: null };
    t.equal(await store.opened.store.prompts.link(stranger, link, NOON), false);
  });

  void t.test('removes links of deleted versions and links whose traces never arrive', async (t) => {
    const store = await PromptStore.of(await open(t));
    const { opened, tenant } = store;
    const used = async (): Promise<number> => {
      const { stored } = opened.store;
      opened.clock.advance(60_000);
      // Starts a measurement.
      await stored.read(tenant);
      await (stored as StoredBytes & Pick<MeasuredBytes, 'settled'>).settled();
      return (await stored.read(tenant)).used ?? -1;
    };
    const linkTen = async (version: number): Promise<void> => {
      const links = Array.from({ length: 10 }, () => store.link(randomUUID(), null, version));
      t.ok((await Promise.all(links)).every((isKnown) => isKnown));
    };
    const before = await used();
    await linkTen(1);
    t.ok((await used()) > before);
    await opened.control.prompts.remove(tenant, 'p', 1, NOBODY);
    await opened.retained(1);
    t.ok((await used()) < before, 'neither the version nor its links take space');
    await linkTen(2);
    const run = aPromptedRun({}, {});
    await store.write(run);
    await store.link(run.trace.trace_id, null, 2);
    await opened.retained(20);
    const waiting = await used();
    await opened.retained(11);
    t.ok((await used()) < waiting, 'after 30 days');
    const [two] = (await opened.store.prompts.compare(tenant, 'p')) ?? [];
    t.match(two, { version: 2, total_traces: 1 }, 'the link of a stored trace stays');
  });

  void t.test('a link waits for its trace across restarts and then counts once', async (t) => {
    const store = await PromptStore.of(await open(t));
    const run = aPromptedRun({ success: true, duration_ms: 10, total_cost_usd: 3 }, {}, {});
    const { trace_id } = run.trace;
    for (const span of [null, run.spans[0]?.span_id ?? null, randomUUID(), null]) {
      t.equal(await store.link(trace_id, span), true);
      t.match(await store.stats(), UNUSED);
    }
    await store.opened.reopen();
    t.equal(await store.link(trace_id.toUpperCase()), true);
    t.match(await store.stats(), UNUSED);
    await store.write(run);
    const counted = {
      total_traces: 1,
      success_count: 1,
      failure_count: 0,
      avg_cost: 3e-9,
      avg_latency_ms: 10,
      p95_latency_ms: 10,
      others: 0,
    };
    t.match(await store.stats(), counted);
    await store.write(run);
    await store.link(trace_id, randomUUID());
    await store.link(trace_id, null, 2);
    t.match(await store.stats(), { ...counted, others: 1 });
    await store.opened.store.runs.setOutcome(store.tenant, trace_id, { success: false });
    await store.opened.reopen();
    t.match(await store.stats(), { ...counted, success_count: 0, failure_count: 1, others: 1 });
    t.same(await store.opened.wrongs(), [], 'one row for each version and span');
  });

  void t.test('new or completing spans link their trace to the prompt they name', async (t) => {
    const store = await PromptStore.of(await open(t));
    const [first, second] = [randomUUID(), randomUUID()];
    const run = aPromptedRun(
      { status: 'running' },
      { span_id: first, status: 'running' },
      { span_id: second },
    );
    const { trace_id } = run.trace;
    await store.write(run);
    t.match(await store.stats(), { total_traces: 0 });

    const again = (span_id: string, changes: Partial<SpanRecord>): TraceRecord => ({
      trace: run.trace,
      spans: [aSpanRecord(trace_id, { span_id, ...changes })],
    });
    await store.write(again(second, { prompt: P1 }));
    t.match(await store.stats(), { total_traces: 0 }, 'a repeat changes nothing');
    await store.write(again(first, { status: 'completed', prompt: P1 }));
    t.match(await store.stats(), { total_traces: 1, avg_latency_ms: null, others: 0 });
    const others = [
      { name: 'p', version: 7 },
      { name: 'q', version: 1 },
    ];
    await store.write(aPromptedRun({}, ...others.map((prompt) => ({ prompt }))));
    t.match(await store.stats(), { total_traces: 1, others: 0 }, 'unknown prompts are ignored');

    await store.write(aPromptedRun({}, { span_id: second, prompt: P1 }, {}));
    t.match(await store.stats(), { total_traces: 2 }, 'it is another span under another trace');
    await store.write(
      aPromptedRun({}, { prompt: P1 }, { prompt: { name: 'p', version: 2 } }, { prompt: P1 }),
    );
    t.match(await store.stats(), { total_traces: 3, others: 1 });
    await store.write({ trace: { ...run.trace, status: 'completed', duration_ms: 5 }, spans: [] });
    t.match(await store.stats(), { total_traces: 3, avg_latency_ms: 5, p95_latency_ms: 5 });
  });

  void t.test('a link to a prompt version created later is ignored', async (t) => {
    const store = await PromptStore.of(await open(t));
    const run = aPromptedRun({}, { prompt: { name: 'later', version: 1 } });
    await store.write(run);
    await addPrompts(store.opened.control.prompts, store.tenant, ['later'], [1]);
    await store.write(run);
    t.match(await store.opened.store.prompts.compare(store.tenant, 'later'), [{ total_traces: 0 }]);
  });

  void t.test('a refused batch links nothing', async (t) => {
    const store = await PromptStore.of(await open(t));
    const { writer } = store.opened.store;
    const quota = { monthly_items: 3 };
    const write = async (items: TraceRecord[]) =>
      writer.traces({ tenant: store.tenant, items, quota }, { receivedAt: NOON });
    const run = aPromptedRun({ status: 'running' }, {});
    await write([run]);
    const more = (count: number): TraceRecord => ({
      trace: run.trace,
      spans: Array.from({ length: count }, () => aSpanRecord(run.trace.trace_id, { prompt: P1 })),
    });
    await t.rejects(write([more(3)]), { code: 'quota_exceeded' });
    await t.rejects(write([aPromptedRun({}, { prompt: P1 }, { prompt: P1 }, {})]), {
      code: 'quota_exceeded',
    });
    t.match(await store.stats(), { total_traces: 0 });
    await write([more(1)]);
    t.match(await store.stats(), { total_traces: 1 });
    await t.rejects(write([more(2)]), { code: 'quota_exceeded' });
    await store.link(run.trace.trace_id, null, 2);
    t.match(await store.stats(), { total_traces: 1, others: 1 });
    await store.opened.reopen();
    t.match(await store.stats(), { total_traces: 1, others: 1 });
  });
}

await onEveryTelemetry(t, checkPromptRuns);
