import t from 'tap';
import { ingest } from '../../bench/ingest.js';
import { otlp } from '../../bench/otlp.js';

// Whole daemons, which are slow on a busy machine.
t.setTimeout(600_000);

/** Collects the output of a bench. */
function printer(): { readonly print: (text: string) => void; readonly text: () => string } {
  const printed: string[] = [];
  return { print: (text) => printed.push(text), text: () => printed.join('\n') };
}

const SMALL = { connections: 4, warmup: 0, bodies: 8, seconds: 1 };

void t.test('ingest, closed loop: prints results, and everything acknowledged is stored', async (t) => {
  const { print, text } = printer();
  const { load, verdict, bytesPerItem } = await ingest({ ...SMALL, spans: 3000 }, print);
  t.equal(load.acknowledged.items, 3000);
  t.same(load.errors, {});
  t.equal(load.rejected, 0);
  t.equal(load.unknownUnits, 0);
  t.ok(verdict.isComplete, verdict.text);
  t.equal(load.measured.latency.count, 30);
  t.ok(load.measured.latency.max > 0 && load.measured.longestGapMs > 0 && bytesPerItem > 0);
  for (const name of ['machine', 'spans/s acknowledged', 'acknowledgement', 'longest gap', 'daemon memory']) {
    t.match(text(), name);
  }
});

void t.test('ingest, open loop: sends the requested number of spans and can omit a processor', async (t) => {
  const { print } = printer();
  const stats = await ingest({ ...SMALL, rate: 2000, spans: 2000, without: ['validation'] }, print);
  t.equal(stats.load.acknowledged.items, 2000);
  t.ok(stats.verdict.isComplete, stats.verdict.text);
  await t.rejects(
    ingest({ ...SMALL, without: ['nothing'] }, print),
    /no pipeline has this processor. Use one of: validation/,
  );
});

void t.test('otlp: everything acknowledged is stored for each signal', async (t) => {
  const { print, text } = printer();
  const signals = ['traces', 'metrics', 'logs'] as const;
  const results = await otlp({ ...SMALL, signals, perRequest: 50, items: 500 }, print);
  for (const signal of signals) {
    const stats = results.get(signal);
    t.equal(stats?.load.acknowledged.items, 500, signal);
    t.same(stats?.load.errors, {});
    t.equal(stats?.load.rejected, 0);
    t.ok(stats?.verdict.isComplete, stats?.verdict.text ?? signal);
  }
  t.ok((results.get('traces')?.load.samples.length ?? 0) > 0);
  for (const name of ['spans/s', 'points/s', 'records/s']) t.match(text(), `${name} acknowledged`);
});
