import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { TestStore } from '../duckdb/test-store.js';
import { writeUntilKilled } from '../duckdb/write-until-killed.js';
import { until } from '../../support/until.js';
import type { Line, OwnDeath } from './fact-writer-app.js';

/** Set `JACKDAW_TEST_KILLS=20` to kill more often. */
const KILLS = Number(process.env.JACKDAW_TEST_KILLS ?? 6);
const WRITER = fileURLToPath(new URL('./fact-writer-app.js', import.meta.url));
const DEATHS: readonly OwnDeath[] = ['read', 'appended', 'none'];
const FAR = 1e17;
const ALL = { events: 1_000_000, bytes: 1e9 };

t.setTimeout(0);

void t.test('stores each fact once and in order after kills at any moment', async (t) => {
  const opened = await TestStore.open(t);
  const users = [await opened.addUser(), await opened.addUser(), await opened.addUser()];
  await opened.control.events.want('test', ['trace.completed'], FAR);
  const start = await opened.control.events.open('all');
  await opened.close();
  /** Ids sent per user, in order, and acknowledged ids. */
  const sent = new Map<string, string[]>(users.map((user) => [user, []]));
  const acknowledged = new Set<string>();
  const first = randomInt(DEATHS.length);
  for (let kill = 0; kill < KILLS; kill++) {
    const death = DEATHS[(first + kill) % DEATHS.length] ?? 'none';
    const args = [opened.path, users.join(','), death, String(randomInt(1, 30))];
    for (const { kind, user, trace } of await writeUntilKilled<Line>(t, WRITER, args)) {
      if (kind === 'sent') sent.get(user)?.push(trace);
      else acknowledged.add(trace);
    }
    // In most rounds the next process delivers the remaining facts; in some this one does.
    if (kill % 3 === 2) {
      await opened.start();
      if (kill % 2 === 0) await opened.store.settled();
      await opened.close();
    }
  }
  await opened.start();
  const stored = new Map<string, number>();
  for (const user of users) {
    const { count } = await opened.store.runs.list(user, {}, { offset: 0, limit: 1 });
    stored.set(user, count);
  }
  const facts = [...stored.values()].reduce((sum, count) => sum + count, 0);
  const log = async () => (await opened.control.events.read(start, ALL)).events;
  await until('all events are emitted', async () => (await log()).length >= facts);
  const kept = await log();
  t.equal(kept.length, facts, `${KILLS} kills, ${facts} facts`);
  for (const user of users) {
    const traces = kept
      .filter(({ tenant }) => tenant === user)
      .map(({ event }) => (JSON.parse(event.body) as { data: { trace_id: string } }).data.trace_id);
    t.equal(traces.length, stored.get(user));
    const known = new Set(traces);
    t.strictSame(
      traces,
      sent.get(user)?.filter((trace) => known.has(trace)),
      'each once, as sent',
    );
    t.strictSame(
      sent.get(user)?.filter((trace) => acknowledged.has(trace) && !known.has(trace)),
      [],
    );
  }
});
