import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type { PromptVersionFigures } from '../../src/storage/telemetry-store.js';
import { aHeader, aSpanRecord, aTrace, DAY, NOON } from '../support/run-records.js';
import { addPrompts, compareWithRuns, linkedKey } from './prompt-oracle.js';
import { readAsOne } from './stored-rows.js';
import { TestStore } from './test-store.js';

const HOUR_MS = 3_600_000;
const P1 = { name: 'p', version: 1 };
const UNUSED: Omit<PromptVersionFigures, 'version'> = {
  total_traces: 0,
  success_count: 0,
  failure_count: 0,
  avg_cost: null,
  avg_latency_ms: null,
  p95_latency_ms: null,
};

/** A store with versions 1 and 2 of the prompt `p`. */
class PromptStore {
  readonly opened: TestStore;
  readonly tenant: string;

  constructor(opened: TestStore, tenant: string) {
    this.opened = opened;
    this.tenant = tenant;
  }

  async write(...items: TraceRecord[]): Promise<void> {
    await this.opened.store.writeTraces({ tenant: this.tenant, items }, { receivedAt: NOON });
  }

  async link(trace_id: string, span_id: string | null = null, version = 1): Promise<boolean> {
    const link = { prompt_name: 'p', prompt_version: version, trace_id, span_id };
    return await this.opened.store.linkPrompt(this.tenant, link, this.opened.settings.clock.now());
  }

  /** The figures of version 1, and how many traces version 2 has. */
  async figures(): Promise<PromptVersionFigures & { readonly others: number }> {
    const [two, one] = (await this.opened.store.comparePrompts(this.tenant, 'p')) ?? [];
    if (one === undefined || two === undefined) throw new Error('the versions are gone');
    return { ...one, others: two.total_traces };
  }
}

async function openPrompts(
  t: Parameters<typeof TestStore.open>[0],
  options?: Parameters<typeof TestStore.open>[1],
): Promise<PromptStore> {
  const opened = await TestStore.open(t, options);
  const tenant = await opened.addUser();
  await addPrompts(opened.control.prompts, tenant, ['p'], [1, 2]);
  return new PromptStore(opened, tenant);
}

function aRun(changes: Parameters<typeof aHeader>[0], ...spans: Partial<SpanRecord>[]): TraceRecord {
  const trace = aHeader(changes);
  return { trace, spans: spans.map((span) => aSpanRecord(trace.trace_id, span)) };
}

t.setTimeout(0);

void t.test('a version that nothing used has zeros and nulls; one that is unknown is told', async (t) => {
  const store = await openPrompts(t);
  const { tenant } = store;
  t.strictSame(await store.opened.store.comparePrompts(tenant, 'p'), [
    { version: 2, ...UNUSED },
    { version: 1, ...UNUSED },
  ]);
  t.equal(await store.opened.store.comparePrompts(tenant, 'P'), null);
  t.equal(await store.link(randomUUID(), null, 3), false);
  const stranger = await store.opened.addUser();
  t.equal(await store.opened.store.comparePrompts(stranger, 'p'), null, "another's");
  const link = { prompt_name: 'p', prompt_version: 1, trace_id: randomUUID(), span_id: null };
  t.equal(await store.opened.store.linkPrompt(stranger, link, NOON), false);
});

void t.test('a link waits for its trace, over restarts, and then counts once', async (t) => {
  const store = await openPrompts(t);
  const run = aRun({ success: true, duration_ms: 10, total_cost_usd: 3 }, {}, {});
  const { trace_id } = run.trace;
  for (const span of [null, run.spans[0]?.span_id ?? null, randomUUID(), null]) {
    t.equal(await store.link(trace_id, span), true);
    t.match(await store.figures(), UNUSED);
  }
  await store.opened.reopen();
  t.equal(await store.link(trace_id.toUpperCase()), true);
  t.match(await store.figures(), UNUSED);
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
  t.match(await store.figures(), counted);
  await store.write(run);
  await store.link(trace_id, randomUUID());
  await store.link(trace_id, null, 2);
  t.match(await store.figures(), { ...counted, others: 1 });
  await store.opened.store.setOutcome(store.tenant, trace_id, { success: false });
  await store.opened.reopen();
  t.match(await store.figures(), { ...counted, success_count: 0, failure_count: 1, others: 1 });

  await store.opened.close();
  const rows = await readAsOne(store.opened.path, ['prompt_links'], (query) =>
    query('SELECT prompt_no, span_id::VARCHAR AS span_id FROM prompt_links ORDER BY ALL'),
  );
  t.equal(rows.length, 5, 'one row for each version and span');
});

void t.test('spans link their trace by what they name, when they are new or complete another', async (t) => {
  const store = await openPrompts(t);
  const [first, second] = [randomUUID(), randomUUID()];
  const run = aRun({ status: 'running' }, { span_id: first, status: 'running' }, { span_id: second });
  const { trace_id } = run.trace;
  await store.write(run);
  t.match(await store.figures(), { total_traces: 0 });

  const again = (span_id: string, changes: Partial<SpanRecord>): TraceRecord => ({
    trace: run.trace,
    spans: [aSpanRecord(trace_id, { span_id, ...changes })],
  });
  await store.write(again(second, { prompt: P1 }));
  t.match(await store.figures(), { total_traces: 0 }, 'a repeat changes nothing');
  await store.write(again(first, { status: 'completed', prompt: P1 }));
  t.match(await store.figures(), { total_traces: 1, avg_latency_ms: null, others: 0 });
  const others = [
    { name: 'p', version: 7 },
    { name: 'q', version: 1 },
  ];
  await store.write(aRun({}, ...others.map((prompt) => ({ prompt }))));
  t.match(
    await store.figures(),
    { total_traces: 1, others: 0 },
    'what the user does not have is passed over',
  );

  await store.write(aRun({}, { span_id: second, prompt: P1 }, {}));
  t.match(await store.figures(), { total_traces: 2 }, 'under another trace it is another span');
  await store.write(aRun({}, { prompt: P1 }, { prompt: { name: 'p', version: 2 } }, { prompt: P1 }));
  t.match(await store.figures(), { total_traces: 3, others: 1 });
  await store.write({ trace: { ...run.trace, status: 'completed', duration_ms: 5 }, spans: [] });
  t.match(await store.figures(), { total_traces: 3, avg_latency_ms: 5, p95_latency_ms: 5 });
});

void t.test('a link to a prompt version that is created later is none', async (t) => {
  const store = await openPrompts(t);
  const run = aRun({}, { prompt: { name: 'later', version: 1 } });
  await store.write(run);
  await addPrompts(store.opened.control.prompts, store.tenant, ['later'], [1]);
  await store.write(run);
  t.match(await store.opened.store.comparePrompts(store.tenant, 'later'), [{ total_traces: 0 }]);
});

void t.test('of a batch that is refused nothing is linked', async (t) => {
  const store = await openPrompts(t);
  const { store: duckdb } = store.opened;
  const quota = { monthly_items: 3 };
  const write = async (items: TraceRecord[]) =>
    duckdb.writeTraces({ tenant: store.tenant, items, quota }, { receivedAt: NOON });
  const run = aRun({ status: 'running' }, {});
  await write([run]);
  const more = (count: number): TraceRecord => ({
    trace: run.trace,
    spans: Array.from({ length: count }, () => aSpanRecord(run.trace.trace_id, { prompt: P1 })),
  });
  await t.rejects(write([more(3)]), { code: 'quota_exceeded' });
  await t.rejects(write([aRun({}, { prompt: P1 }, { prompt: P1 }, {})]), { code: 'quota_exceeded' });
  t.match(await store.figures(), { total_traces: 0 });
  await write([more(1)]);
  t.match(await store.figures(), { total_traces: 1 });
  await t.rejects(write([more(2)]), { code: 'quota_exceeded' });
  await store.link(run.trace.trace_id, null, 2);
  t.match(await store.figures(), { total_traces: 1, others: 1 });
  await store.opened.reopen();
  t.match(await store.figures(), { total_traces: 1, others: 1 });
});

for (const segmentSize of [
  { rows: 4, bytes: 1e9 },
  { rows: 100_000, bytes: 1e9 },
])
  void t.test(`links go with their traces, segments of ${segmentSize.rows} rows`, async (t) => {
    const DAYS_KEPT = 3;
    const store = await openPrompts(t, { segmentSize, traceRetentionDays: DAYS_KEPT });
    const firstKept = Math.floor(NOON / DAY) * DAY + 4 * DAY - (DAYS_KEPT - 1) * DAY;
    const runs = [NOON - DAY, firstKept - 1, firstKept, NOON + 3 * DAY].map((started_at) =>
      aRun({ started_at, duration_ms: 1 }, { prompt: P1 }),
    );
    const [late, never] = [aRun({ started_at: firstKept }, {}), randomUUID()];
    await store.link(late.trace.trace_id);
    await store.link(never);
    // The link of the last one is older than what is kept, but it has come.
    await store.write(...runs, late);
    t.match(await store.figures(), { total_traces: 5 });
    // A day at a time: retention believes no larger steps.
    for (let days = 0; days < 4; days++) await store.opened.retained(24 * HOUR_MS);
    t.match(await store.figures(), { total_traces: 3 });
    await store.write(aRun({ trace_id: never, started_at: firstKept }, {}));
    await store.opened.reopen({ traceRetentionDays: null });
    t.match(await store.figures(), { total_traces: 3 }, 'the link that waited too long is gone');
    // What expired may come again.
    await store.write(...runs.slice(0, 1));
    await store.opened.reopen();
    t.match(await store.figures(), { total_traces: 4 });
    t.notMatch(store.opened.settings.logger.lines, /failed|could not/);
  });

void t.test('thirty thousand links', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 15_000, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const versions = Array.from({ length: 20 }, (_, i) => i + 1);
  const names = ['with/slash', '100 %', '🪶'];
  await addPrompts(opened.control.prompts, tenant, names, versions);
  const TRACES = 6000;
  const LINKS = 30_000;
  const BATCH = 1500;
  const ids = Array.from({ length: TRACES }, () => randomUUID());
  const write = async (from: number): Promise<void> => {
    const items = ids.slice(from, from + BATCH).map((trace_id, i) =>
      aTrace(0, {
        trace_id,
        duration_ms: (i * 7919) % 1013,
        success: i % 3 === 0 ? null : i % 3 === 1,
        total_cost_usd: i,
      }),
    );
    await opened.store.writeTraces({ tenant, items }, { receivedAt: NOON });
  };
  const linked = new Map<string, Set<string>>();
  for (let from = 0; from < LINKS; from += BATCH) {
    // Half of the traces come before their links, the others between or after them.
    if (from % (LINKS / 5) === 0) await write((from / LINKS) * TRACES);
    await Promise.all(
      Array.from({ length: BATCH }, async (_, i) => {
        const link = from + i;
        const trace_id = ids[(link * 7) % TRACES] ?? '';
        const prompt_name = names[link % names.length] ?? '';
        const prompt_version = 1 + (Math.floor(link / names.length) % versions.length);
        const key = linkedKey(prompt_name, prompt_version);
        linked.set(key, (linked.get(key) ?? new Set()).add(trace_id));
        await opened.store.linkPrompt(tenant, { prompt_name, prompt_version, trace_id, span_id: null }, NOON);
      }),
    );
  }
  for (let from = 0; from < TRACES; from += BATCH) await write(from);
  await compareWithRuns(opened.store, tenant, names, linked);
  await opened.store.settled();
  await opened.reopen();
  await compareWithRuns(opened.store, tenant, names, linked);
  t.pass('compare shows what was linked, before a restart and after it');
});
