import t from 'tap';
import { read } from '../../bench/read.js';
import { restart } from '../../bench/restart.js';
import { testFolder } from '../support/test-folder.js';

// Several daemons in sequence, which is slow on a busy machine.
t.setTimeout(600_000);

/** Collects the output of a bench. */
function printer(): { readonly print: (text: string) => void; readonly text: () => string } {
  const printed: string[] = [];
  return { print: (text) => printed.push(text), text: () => printed.join('\n') };
}

void t.test('restart: everything acknowledged survives kill -9', async (t) => {
  const { print } = printer();
  const { verdict, acknowledgedSpans } = await restart({ spans: 3000, connections: 4, bodies: 8 }, print);
  t.ok(acknowledgedSpans >= 3000);
  t.ok(verdict.isComplete, verdict.text);
});

void t.test('read: every route answers over an existing store and leaves it unchanged', async (t) => {
  const { print, text } = printer();
  // One of them at random, because each store takes two daemons.
  const hasLogs = Math.random() < 0.5;
  const options = {
    spans: [2000],
    linkedTraces: hasLogs ? [] : [1000],
    logRecords: hasLogs ? [2000] : [],
    metricPoints: [2000],
    ingestRate: 0,
    requests: 2,
    seconds: 5,
    data: testFolder(t),
  };
  const check = (results: Awaited<ReturnType<typeof read>>, store: string, routes: number): void => {
    const stats = results.get(store) ?? [];
    t.equal(stats.length, routes, store);
    t.ok(stats.every(({ alone }) => alone.count >= 1 && alone.p50 > 0));
  };
  const first = await read(options, print);
  check(first, '2000 spans', 50);
  if (hasLogs) check(first, '2000 log records', 14);
  else check(first, '1000 linked traces', 3);
  check(first, '2000 metric points', 7);
  const second = await read({ ...options, spans: [], linkedTraces: [], logRecords: [] }, print);
  check(second, '2000 metric points', 7);
  t.equal(text().split('filled with 2000 points').length, 2, 'found the second time');
});
