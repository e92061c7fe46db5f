import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { DuckDBStoreOptions } from '../../../../src/storage/duckdb/client/store.js';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { addPrompts, compareWithRuns, linkedKey } from '../prompt-oracle.js';
import { aPromptedRun, P1, PromptStore } from '../prompt-store.js';
import { TestStore } from '../test-store.js';

const HOUR_MS = 3_600_000;
async function openPrompts(t: Test, options: Partial<DuckDBStoreOptions>): Promise<PromptStore<TestStore>> {
  const opened = await TestStore.open(t, options);
  return await PromptStore.of(opened, () => opened.settings.clock.now());
}

t.setTimeout(0);

for (const segmentSize of [
  { rows: 4, bytes: 1e9 },
  { rows: 100_000, bytes: 1e9 },
])
  void t.test(`removes links with their traces, with segments of ${segmentSize.rows} rows`, async (t) => {
    const DAYS_KEPT = 3;
    const store = await openPrompts(t, { segmentSize, traceRetentionDays: DAYS_KEPT });
    const firstKept = Math.floor(NOON / DAY) * DAY + 4 * DAY - (DAYS_KEPT - 1) * DAY;
    const runs = [NOON - DAY, firstKept - 1, firstKept, NOON + 3 * DAY].map((started_at) =>
      aPromptedRun({ started_at, duration_ms: 1 }, { prompt: P1 }),
    );
    const [late, never] = [aPromptedRun({ started_at: firstKept }, {}), randomUUID()];
    await store.link(late.trace.trace_id);
    await store.link(never);
    // The link of the last one is older than the retention, but its trace was received.
    await store.write(...runs, late);
    t.match(await store.stats(), { total_traces: 5 });
    // One day at a time: retention trusts no larger steps.
    for (let days = 0; days < 4; days++) await store.opened.retained(24 * HOUR_MS);
    t.match(await store.stats(), { total_traces: 3 });
    await store.write(aPromptedRun({ trace_id: never, started_at: firstKept }, {}));
    await store.opened.reopen({ traceRetentionDays: null });
    t.match(await store.stats(), { total_traces: 3 }, 'the link that waited too long is removed');
    // Expired traces may be received again.
    await store.write(...runs.slice(0, 1));
    await store.opened.reopen();
    t.match(await store.stats(), { total_traces: 4 });
    t.notMatch(store.opened.settings.logger.lines, /failed|could not/);
  });

void t.test('counts nine thousand links', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 4500, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const versions = Array.from({ length: 20 }, (_, i) => i + 1);
  const names = ['with/slash', '100 %', '🪶'];
  await addPrompts(opened.control.prompts, tenant, names, versions);
  const TRACES = 1800;
  const LINKS = 9000;
  const BATCH = 450;
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
    await opened.store.writer.traces({ tenant, items }, { receivedAt: NOON });
  };
  const linked = new Map<string, Set<string>>();
  for (let from = 0; from < LINKS; from += BATCH) {
    // Half of the traces arrive before their links, the others between or after them.
    if (from % (LINKS / 5) === 0) await write((from / LINKS) * TRACES);
    await Promise.all(
      Array.from({ length: BATCH }, async (_, i) => {
        const link = from + i;
        const trace_id = ids[(link * 7) % TRACES] ?? '';
        const prompt_name = names[link % names.length] ?? '';
        const prompt_version = 1 + (Math.floor(link / names.length) % versions.length);
        const key = linkedKey(prompt_name, prompt_version);
        linked.set(key, (linked.get(key) ?? new Set()).add(trace_id));
        await opened.store.prompts.link(
          tenant,
          { prompt_name, prompt_version, trace_id, span_id: null },
          NOON,
        );
      }),
    );
  }
  for (let from = 0; from < TRACES; from += BATCH) await write(from);
  await compareWithRuns(opened.store, tenant, names, linked);
  await opened.store.settled();
  await opened.reopen();
  await compareWithRuns(opened.store, tenant, names, linked);
  t.pass('compare shows all links before and after a restart');
});
