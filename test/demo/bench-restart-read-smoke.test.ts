import t from 'tap';
import { read } from '../../bench/read.js';
import { restart } from '../../bench/restart.js';
import { testFolder } from '../support/test-folder.js';

// Several whole daemons one after the other, which takes its time where the machine has other work.
t.setTimeout(180_000);

/** Collects what a bench prints. */
function printer(): { readonly print: (text: string) => void; readonly text: () => string } {
  const printed: string[] = [];
  return { print: (text) => printed.push(text), text: () => printed.join('\n') };
}

void t.test('restart: after kill -9 everything acknowledged is there', async (t) => {
  const { print } = printer();
  const { verdict, acknowledgedSpans } = await restart({ spans: 3000, connections: 4, bodies: 8 }, print);
  t.ok(acknowledgedSpans >= 3000);
  t.ok(verdict.isComplete, verdict.text);
});

void t.test('read: every route answers over a kept store, which is left as it was', async (t) => {
  const { print, text } = printer();
  const options = {
    spans: [2000],
    linkedTraces: [1000],
    logRecords: [2000],
    metricPoints: [2000],
    ingestRate: 0,
    requests: 2,
    seconds: 5,
    data: testFolder(t),
  };
  for (const time of ['first', 'second']) {
    const results = await read(options, print);
    for (const [store, routes] of [
      ['2000 spans', 17],
      ['1000 linked traces', 3],
      ['2000 log records', 11],
      ['2000 metric points', 5],
    ] as const) {
      const figures = results.get(store) ?? [];
      t.equal(figures.length, routes, `${store}, ${time} time`);
      t.ok(figures.every(({ alone }) => alone.count >= 1 && alone.p50 > 0));
    }
  }
  for (const name of ['spans', 'records', 'points'])
    t.equal(text().split(`filled with 2000 ${name}`).length, 2, 'the second time it was there');
});
