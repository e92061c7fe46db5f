import { createHash } from 'node:crypto';
import t from 'tap';
import { IdSampler } from '../../../src/processors/sample/decider.js';
import { sampleProcessor } from '../../../src/processors/sample/factory.js';
import { metricValues } from '../../support/engine.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { processorOf } from '../../support/processors.js';
import { readProjectFile } from '../../support/project-file.js';
import { aSpanRecord, aTrace } from '../../support/run-records.js';

/** Pseudorandom ids, the same in every run. */
const IDS = Array.from({ length: 20_000 }, (_, index) =>
  createHash('sha256')
    .update(String(index))
    .digest('hex')
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
);
const NEVER = '00000000-0000-4000-8000-000000000000';

function keptOf(percentage: number): readonly string[] {
  const sampler = new IdSampler(percentage);
  return IDS.filter((id) => sampler.isKept(id));
}

void t.test('keeps the given percentage, and a larger one includes a smaller', async (t) => {
  t.equal(keptOf(0).length, 0);
  t.equal(keptOf(100).length, IDS.length);
  let before: readonly string[] = [];
  for (const percentage of [0.1, 1, 10, 25, 50, 99]) {
    const kept = keptOf(percentage);
    const share = (100 * kept.length) / IDS.length;
    t.ok(Math.abs(share - percentage) < 1, `${percentage} %: ${share} %`);
    const set = new Set(kept);
    t.ok(before.every((id) => set.has(id)));
    before = kept;
  }
});

void t.test('compares the last 56 bits with the threshold', async (t) => {
  const half = new IdSampler(50);
  t.equal(half.isKept('ffffffff-ffff-ffff-ff80-000000000000'), true);
  t.equal(half.isKept('ffffffff-ffff-ffff-ff7f-ffffffffffff'), false);
  t.equal(half.isKept('00000000-0000-0000-0080-000000000000'), true);
  t.equal(new IdSampler(100).isKept('00000000-0000-0000-0000-000000000000'), true);
});

void t.test('the documented example keeps its percentage and matching traces', async (t) => {
  const text =
    /sample\/cheap:\n(.*?)\nexporters:/s.exec(readProjectFile('src/processors/sample/README.md'))?.[1] ?? '';
  const { consume, passed, settings } = processorOf(sampleProcessor, 'traces', text);
  const failed = aTrace(1, { trace_id: NEVER, status: 'failed' });
  const dear = { ...aTrace(0, { trace_id: NEVER }), spans: [aSpanRecord(NEVER, { cost_usd: 600_000_000 })] };
  const cheap = aTrace(3, { trace_id: NEVER });
  const lucky = aTrace(1, { trace_id: 'ffffffff-ffff-4fff-bfff-ffffffffffff' });
  t.strictSame(await consume([cheap, failed, dear, lucky]), { accepted: 4, refused: [] });
  const sampled = (item: TraceRecord, sample_rate: number) => ({
    ...item,
    trace: { ...item.trace, sample_rate },
  });
  t.strictSame(
    passed[0]?.items,
    [sampled(failed, 1), sampled(dear, 1), sampled(lucky, 0.1)],
    'with all their spans and their sample rate',
  );
  t.equal(lucky.trace.sample_rate, null, 'other users of the item see no change');
  t.strictSame(await metricValues(settings.meter, 'jackdaw_processor_dropped_items_total'), {
    'jackdaw_processor_dropped_items_total{processor="sample",item="traces"}': 1,
  });
});

void t.test('a failing condition keeps, drops or refuses the trace', async (t) => {
  const items = () => [aTrace(1, { trace_id: NEVER, metadata: {} })];
  for (const [onError, kept, receipt] of [
    ['keep', 1, { accepted: 1, refused: [] }],
    ['drop', 0, { accepted: 1, refused: [] }],
    ['refuse', 0, { accepted: 0, refused: [{ index: 0, id: NEVER, reason: /cannot be evaluated/ }] }],
  ] as const) {
    const { consume, passed } = processorOf(
      sampleProcessor,
      'traces',
      `{ percentage: 0, keep: ['trace.metadata.size > 5'], on_error: ${onError} }`,
    );
    t.match(await consume(items()), receipt, onError);
    t.equal(passed.flatMap((batch) => batch.items).length, kept, onError);
  }
});

const LUCKY = 'ffffffff-ffff-4fff-bfff-ffffffffffff';

void t.test('consecutive samplers report the combined rate', async (t) => {
  const rate = async (config: string, sample_rate: number | null, status: 'completed' | 'failed') => {
    const { consume, passed } = processorOf(sampleProcessor, 'traces', config);
    await consume([aTrace(1, { trace_id: LUCKY, sample_rate, status })]);
    return passed[0]?.items[0]?.trace.sample_rate;
  };
  const config = `{ percentage: 25, keep: ['trace.status == "failed"'] }`;
  t.equal(await rate(config, null, 'completed'), 0.25);
  t.equal(await rate(config, 0.1, 'completed'), 0.1, 'already among the quarter');
  t.equal(await rate(config, 0.5, 'completed'), 0.25);
  t.equal(await rate(config, null, 'failed'), 1);
  t.equal(await rate(config, 0.1, 'failed'), 0.1, 'of ten earlier failures only one arrived');
  t.equal(await rate('{}', null, 'completed'), null, 'nothing is sampled');
  t.equal(await rate(`{ percentage: 25, keep: ['trace.metadata.a > 1'] }`, null, 'completed'), 1);
});
