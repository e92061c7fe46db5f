import { randomUUID } from 'node:crypto';
import t from 'tap';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { addPrompts } from '../prompt-oracle.js';
import { TestStore } from '../test-store.js';

const DAY_MS = 86_400_000;
t.setTimeout(0);
void t.test('a restart keeps link counts after retention removed the first link of a trace', async (t) => {
  const opened = await TestStore.open(t, { traceRetentionDays: 3 });
  const tenant = await opened.addUser();
  await addPrompts(opened.control.prompts, tenant, ['p'], [1]);
  const { clock } = opened.settings;
  const trace_id = randomUUID();
  const link = async (span_id: string | null) =>
    await opened.store.prompts.link(
      tenant,
      { prompt_name: 'p', prompt_version: 1, trace_id, span_id },
      clock.now(),
    );
  const total = async () => (await opened.store.prompts.compare(tenant, 'p'))?.[0]?.total_traces;
  await link(null);
  const old = aHeader({ started_at: NOON });
  await opened.store.writer.traces(
    { tenant, items: [{ trace: old, spans: [aSpanRecord(old.trace_id, {})] }] },
    { receivedAt: NOON },
  );
  await opened.retained(DAY_MS);
  await link(randomUUID());
  await opened.retained(DAY_MS);
  await opened.retained(DAY_MS);
  t.equal(await opened.store.runs.read(tenant, old.trace_id), null, 'retention ran');
  await opened.store.settled();
  const trace = aHeader({ trace_id, started_at: clock.now() });
  await opened.store.writer.traces({ tenant, items: [{ trace, spans: [] }] }, { receivedAt: clock.now() });
  t.equal(await total(), 1, 'before restart');
  await opened.reopen({ traceRetentionDays: null });
  t.equal(await total(), 1, 'after restart');
});
