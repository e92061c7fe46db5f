import t, { type Test } from 'tap';
import { aLog } from '../support/log-records.js';
import { aPoint } from '../support/metric-points.js';
import { aSpanRecord, aTrace, NOON } from '../support/run-records.js';
import { until } from '../support/until.js';
import { aPrompt, NOBODY } from '../storage/duckdb/meta-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const EXCEEDED = {
  name: 'ConsumeError',
  code: 'storage_exceeded',
  retryable: true,
  message: /Delete prompts.*administrator/,
};
/** Longer than the measurement of a small store stays valid. */
const LATER_MS = 60_000;
const TEXT = 'x'.repeat(10_000);

function checkStoredBytes(t: Test, open: OpenTelemetry): void {
  void t.test('counts the bytes of every signal and the control store per user', async (t) => {
    const opened = await open(t);
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    let last = 0;
    /** Waits for a measurement within these bounds. */
    const used = async (least: number, most: number): Promise<void> => {
      await until(`${String(least)} to ${String(most)} bytes`, async () => {
        opened.clock.advance(LATER_MS);
        last = (await opened.store.stored.read(tenant)).used ?? -1;
        return last >= least && last <= most;
      });
      t.ok(last >= least && last <= most, `${String(last)} bytes`);
    };
    const { writer } = opened.store;
    const { trace } = aTrace(0);
    const run = { trace, spans: [aSpanRecord(trace.trace_id, { input_data: { text: TEXT } })] };
    const writes: (() => Promise<unknown>)[] = [
      () => writer.traces({ tenant, items: [structuredClone(run)] }, RECEIVED),
      () => writer.logs({ tenant, items: [aLog({ body: TEXT })] }, RECEIVED),
      () => writer.metrics({ tenant, items: [aPoint({ labels: { text: TEXT } })] }, RECEIVED),
      () => opened.control.prompts.create(tenant, aPrompt({ template_text: TEXT })),
    ];
    t.same(await opened.store.stored.read(tenant), { used: 0, limit: null });
    for (const [before, write] of writes.entries()) {
      await write();
      await used((before + 1) * TEXT.length, (before + 2) * TEXT.length - 1);
    }
    await opened.settled();
    await opened.reopen();
    await used(4 * TEXT.length, 5 * TEXT.length - 1);
    t.same(await opened.store.stored.read(other), { used: 0, limit: null });
  });

  void t.test('a user at the limit can store nothing until data is removed', async (t) => {
    const opened = await open(t);
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const limit = async (stored_bytes_limit: number): Promise<void> => {
      await opened.control.accounts.updateUser(tenant, { stored_bytes_limit });
    };
    const batches = (user: string): (() => Promise<unknown>)[] => {
      const { writer } = opened.store;
      return [
        () => writer.traces({ tenant: user, items: [aTrace(1)] }, RECEIVED),
        () => writer.logs({ tenant: user, items: [aLog()] }, RECEIVED),
        () => writer.metrics({ tenant: user, items: [aPoint()] }, RECEIVED),
      ];
    };
    await opened.control.prompts.create(tenant, aPrompt({ name: 'large', template_text: TEXT }));
    await limit(TEXT.length);
    for (const write of batches(tenant)) await t.rejects(write(), EXCEEDED);
    await t.rejects(opened.store.stored.take(tenant, 1), EXCEEDED);
    await Promise.all(batches(other).map((write) => write()));
    await opened.store.stored.take(other, 1);
    await opened.reopen();
    for (const write of batches(tenant))
      await t.rejects(write(), EXCEEDED, 'at the first write after a restart');
    t.match(await opened.store.stored.read(tenant), { limit: TEXT.length });

    await opened.control.prompts.remove(tenant, 'large', null, NOBODY);
    await until('the prompt no longer counts', async () => {
      opened.clock.advance(LATER_MS);
      return ((await opened.store.stored.read(tenant)).used ?? Infinity) < TEXT.length;
    });
    for (const write of batches(tenant)) await write();

    const { used } = await opened.store.stored.read(tenant);
    await limit((used ?? 0) + TEXT.length);
    const large = { tenant, items: [aLog({ body: TEXT })] };
    await opened.store.writer.logs(large, RECEIVED);
    for (const write of batches(tenant)) await t.rejects(write(), EXCEEDED, 'without another measurement');
    await limit(0);
    for (const write of batches(tenant)) await write();
  });
}

await onEveryTelemetry(t, checkStoredBytes);
