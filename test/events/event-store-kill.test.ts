import t from 'tap';
import type { EventCursor, EventPage } from '../../src/storage/event-store.js';
import { aTrace, NOON } from '../support/run-records.js';
import { aPrompt } from '../storage/meta-records.js';
import { RemoteStore } from '../storage/remote-store.js';
import { TestStore } from '../storage/test-store.js';
import { readAll, wholeOrder } from './read-events.js';

/** `JACKDAW_TEST_KILLS=20` kills more often than a normal run does. */
const KILLS = Number(process.env.JACKDAW_TEST_KILLS ?? 3);
const LIMIT = { events: 10, bytes: 1e9 };
const READER = 'one';

t.setTimeout(0);

void t.test(
  'whenever the process is killed, what was acknowledged has its event, and progress holds',
  async (t) => {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    const start = await opened.store.openEventReader(READER);
    await opened.close();
    let version = 0;
    /** Of prompts and traces: their ids, acknowledged or only sent. */
    const [acknowledged, sent] = [new Set<string>(), new Set<string>()];
    let saved = start;

    for (let kill = 1; kill <= KILLS; kill++) {
      const store = await RemoteStore.open(t, opened.path, 60);
      await store.call('wantEvents', ['trace.completed', 'prompt.created']);
      let isKilled = false;
      const untilKilled = async (work: () => Promise<void>): Promise<void> => {
        try {
          while (!isKilled) await work();
        } catch (error) {
          if (!isKilled) throw error;
        }
      };
      const write = async (id: string, work: Promise<unknown>): Promise<void> => {
        sent.add(id);
        await work;
        acknowledged.add(id);
      };
      let cursor = await store.call<EventCursor>('openEventReader', READER);
      t.ok(isBehind(cursor, saved), `kill ${kill}: what was noted is not forgotten`);
      let left = 5 + 3 * kill;
      let tell = (): void => undefined;
      const haveRead = new Promise<void>((resolve) => (tell = resolve));
      const working = [
        untilKilled(async () => {
          const prompt = aPrompt({ version: ++version });
          await write(prompt.id, store.call('createPrompt', tenant, prompt));
        }),
        untilKilled(async () => {
          const item = aTrace(2);
          const batch = { tenant, items: [item] };
          await write(item.trace.trace_id, store.call('writeTraces', batch, { receivedAt: NOON }));
        }),
        untilKilled(async () => {
          const page = await store.call<EventPage>('readEvents', cursor, LIMIT);
          ({ cursor } = page);
          await store.call('saveEventProgress', READER, cursor);
          saved = cursor;
          if (--left === 0) tell();
        }),
      ];
      await haveRead;
      isKilled = true;
      await store.kill();
      await Promise.all(working);

      await opened.start();
      const pages = await readAll(opened.store, start, { events: 1000, bytes: 1e9 });
      const told = pages.flatMap(({ events }) => events.map(({ event }) => idOf(event.body)));
      t.equal(new Set(told).size, told.length, 'each fact has one event');
      t.same(
        [...acknowledged].filter((id) => !told.includes(id)),
        [],
        'of what was acknowledged',
      );
      t.same(
        told.filter((id) => !sent.has(id)),
        [],
        'and of nothing else',
      );
      const noted = await opened.store.openEventReader(READER);
      const whole = wholeOrder(pages);
      const rest = wholeOrder(await readAll(opened.store, noted, LIMIT));
      for (const order of ['telemetry', 'others'] as const)
        t.strictSame(rest[order], whole[order].slice(whole[order].length - rest[order].length));
      await opened.close();
    }
    t.not(saved.entry, start.entry);
    t.not(saved.commit, start.commit);
  },
);

/** Whether a cursor is at another or behind it. */
function isBehind(one: EventCursor, other: EventCursor): boolean {
  const byCommit = one.commit - other.commit || one.place - other.place;
  return byCommit >= 0 && one.entry >= other.entry;
}

/** Of the trace or the prompt that an event tells of. */
function idOf(body: string): string {
  const { data } = JSON.parse(body) as { data: { trace_id?: string; id?: string } };
  return data.trace_id ?? data.id ?? '';
}
