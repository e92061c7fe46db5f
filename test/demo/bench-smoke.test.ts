import t from 'tap';
import { ingest } from '../../bench/ingest.js';

// Whole daemons, which take their time where the machine has other work.
t.setTimeout(180_000);

/** Collects what a bench prints. */
function printer(): { readonly print: (text: string) => void; readonly text: () => string } {
  const printed: string[] = [];
  return { print: (text) => printed.push(text), text: () => printed.join('\n') };
}

const SMALL = { connections: 4, warmup: 0, bodies: 8, seconds: 1 };

void t.test('ingest, closed loop: figures come out, and stored is what was acknowledged', async (t) => {
  const { print, text } = printer();
  const { load, verdict, bytesPerSpan } = await ingest({ ...SMALL, spans: 3000 }, print);
  t.equal(load.acknowledged.spans, 3000);
  t.same(load.errors, {});
  t.equal(load.rejectedTraces, 0);
  t.equal(load.unknownTraces, 0);
  t.ok(verdict.isComplete, verdict.text);
  t.equal(load.measured.latency.count, 30);
  t.ok(load.measured.latency.max > 0 && load.measured.longestSilenceMs > 0 && bytesPerSpan > 0);
  for (const name of [
    'machine',
    'spans/s acknowledged',
    'acknowledgement',
    'longest silence',
    'daemon memory',
  ]) {
    t.match(text(), name);
  }
});

void t.test('ingest, open loop: as many spans as are due, and a processor can be left out', async (t) => {
  const { print } = printer();
  const figures = await ingest({ ...SMALL, rate: 2000, spans: 2000, without: ['validation'] }, print);
  t.equal(figures.load.acknowledged.spans, 2000);
  t.ok(figures.verdict.isComplete, figures.verdict.text);
  await t.rejects(
    ingest({ ...SMALL, without: ['nothing'] }, print),
    /no pipeline has it; there are validation/,
  );
});
