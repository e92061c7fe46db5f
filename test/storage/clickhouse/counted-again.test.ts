import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Receipt } from '../../../src/component/consumer.js';
import type { WriteIntentLog } from '../../../src/storage/contracts/coordination.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { openControlStore } from '../../support/control-store.js';
import { aSpanRecord, aTrace, NOON } from '../../support/run-records.js';
import { TestClickHouse } from './test-clickhouse.js';

const LIMIT = 5;

/** A write-intent log with hooks before two of its methods. */
function withBefore(book: WriteIntentLog, before: Pick<WriteIntentLog, 'begin' | 'renew'>): WriteIntentLog {
  return new Proxy(book, {
    get: (_, name: keyof WriteIntentLog) =>
      name === 'begin' || name === 'renew' ? before[name] : book[name].bind(book),
  });
}

/** A promise with its resolve function. */
function moment(): { readonly come: Promise<void>; readonly comes: () => void } {
  let comes = (): void => undefined;
  const come = new Promise<void>((resolve) => (comes = resolve));
  return { come, comes };
}

/** Sends spans of one trace for a user limited to {@link LIMIT}. */
function sender(opened: TestClickHouse, tenant: string): (ids: readonly string[]) => Promise<Receipt> {
  const { trace } = aTrace(0);
  return async (ids) => {
    const items = [{ trace, spans: ids.map((span_id) => aSpanRecord(trace.trace_id, { span_id })) }];
    const quota = { monthly_items: LIMIT };
    return await opened.store.writer.traces({ tenant, items, quota }, { receivedAt: NOON });
  };
}

/**
 * Sends two concurrent batches of one user. The first is applied after the second counted its new items
 * and before the second checks its quota.
 *
 * @returns the outcomes of both
 */
async function sendBoth(
  t: Test,
  server: ClickHouseServer,
  spans: { readonly first: readonly string[]; readonly second: readonly string[] },
): Promise<readonly PromiseSettledResult<Receipt>[]> {
  const [isWriting, isCounted] = [moment(), moment()];
  const control = await openControlStore(t);
  const { writes: book } = control;
  const writes = withBefore(book, {
    begin: async (write) => {
      if (write.charges.some(({ isExact }) => isExact)) {
        isCounted.comes();
        await first;
      }
      return await book.begin(write);
    },
    renew: async (...args) => {
      isWriting.comes();
      await isCounted.come;
      return await book.renew(...args);
    },
  });
  const opened = await TestClickHouse.open(t, server, {}, Object.assign(control, { writes }));
  const send = sender(opened, await opened.addUser());
  const first: Promise<Receipt> = send(spans.first);
  await isWriting.come;
  return await Promise.allSettled([first, send(spans.second)]);
}

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('new items of a batch', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const [some, others] = [0, 1].map(() => Array.from({ length: 4 }, () => randomUUID()));
  if (some === undefined || others === undefined) return;

  await t.test('are recounted after a concurrent write, so duplicates are free', async (t) => {
    const answers = await sendBoth(t, server, { first: some, second: some });
    const value = { usage: { limit: LIMIT, used: 4 } };
    t.match(answers, [
      { status: 'fulfilled', value },
      { status: 'fulfilled', value },
    ]);
  });

  await t.test('exceed the limit when a concurrent write added other items', async (t) => {
    const answers = await sendBoth(t, server, { first: some, second: others });
    t.match(answers, [
      { status: 'fulfilled', value: { usage: { used: 4 } } },
      { status: 'rejected', reason: { code: 'quota_exceeded', usage: { limit: LIMIT, used: 4 } } },
    ]);
  });

  await t.test('are counted before a closing store closes', async (t) => {
    const control = await openControlStore(t);
    const { writes: book } = control;
    let closing: Promise<void> | undefined;
    const writes = withBefore(book, {
      begin: async (write) => {
        const begun = await book.begin(write);
        if (begun.charged.some(({ as }) => as === 'inexact')) closing = opened.close();
        return begun;
      },
      renew: (...args) => book.renew(...args),
    });
    const opened: TestClickHouse = await TestClickHouse.open(
      t,
      server,
      {},
      Object.assign(control, { writes }),
    );
    const send = sender(opened, await opened.addUser());
    await send(some);
    t.match(await send(some), { usage: { limit: LIMIT, used: 4 } });
    t.ok(closing, 'the items were counted');
    await closing;
  });
});
