import t, { type Test } from 'tap';
import { isControlStore } from '../../src/storage/contracts/control-store.js';
import { isTelemetryStore } from '../../src/storage/contracts/telemetry-store.js';
import { ALL_TIME } from '../../src/storage/contracts/service-map.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

function checkStore(t: Test, open: OpenTelemetry): void {
  void t.test('is found among extensions by its methods', async (t) => {
    const { store, control } = await open(t);
    t.ok(isTelemetryStore(store));
    t.notOk(isControlStore(store));
    for (const other of [control, {}, null, 'a store']) t.notOk(isTelemetryStore(other));
  });

  void t.test('a store keeps its unique identity', async (t) => {
    const [opened, other] = [await open(t), await open(t)];
    const id = await opened.store.identity();
    t.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    t.not(await other.store.identity(), id);
    await opened.reopen();
    t.equal(await opened.store.identity(), id);
  });

  void t.test('a closed store refuses calls', async (t) => {
    const opened = await open(t);
    const user = await opened.addUser();
    const { store } = opened;
    await opened.reopen();
    const closed = { name: 'ConsumeError', code: 'storage_unavailable', retryable: true };
    const page = { offset: 0, limit: 1 };
    const now = Date.UTC(2026, 0, 1) * 1000;
    const asks: readonly (() => Promise<unknown>)[] = [
      () => store.writer.traces({ tenant: user, items: [] }, { receivedAt: now }),
      () => store.runs.list(user, {}, page),
      () => store.agents.list(user),
      () => store.models.list(user, {}, page),
      () => store.metrics.list(user),
      () => store.logs.search(user, {}, page),
      () => store.map.read(user, ALL_TIME),
      () => store.prompts.compare(user, 'p'),
      () => store.stats.exampleTraces([]),
      () => store.usage.read(user, now),
    ];
    for (const ask of asks) await t.rejects(ask(), closed, String(ask));
  });
}

await onEveryTelemetry(t, checkStore);
