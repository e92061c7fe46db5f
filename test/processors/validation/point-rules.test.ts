import t from 'tap';
import type { Receipt } from '../../../src/component/consumer.js';
import { validationConfig } from '../../../src/processors/validation/config.js';
import { validationProcessor } from '../../../src/processors/validation/factory.js';
import type { MetricsBatch } from '../../../src/signal/batch.js';
import type { MetricPoint } from '../../../src/signal/metric.js';
import { componentSettings } from '../../support/component-settings.js';
import { aMetric, aPoint } from '../../support/metric-points.js';
import { sectionConfig } from '../../support/section-config.js';

async function validate(
  items: MetricPoint[],
  yaml = '{}',
): Promise<{ readonly receipt: Receipt; readonly passed: readonly MetricsBatch[] }> {
  const passed: MetricsBatch[] = [];
  const { metrics: create } = validationProcessor.create;
  if (create === undefined) throw new Error('validation is not for metrics');
  const processor = create({
    ...componentSettings('validation'),
    config: sectionConfig(validationConfig, yaml),
    next: {
      consume: async (batch) => {
        passed.push(batch);
        return { accepted: batch.items.length, refused: [] };
      },
    },
  });
  const receipt = await processor.consume({ tenant: 'a-user', items }, { receivedAt: 0 });
  return { receipt, passed };
}

async function reasonOf(point: MetricPoint, yaml?: string): Promise<string | undefined> {
  const { receipt } = await validate([point], yaml);
  return receipt.refused[0]?.reason;
}

const labelsOf = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, 'x']));

void t.test('valid points pass unchanged, also at the limits', async (t) => {
  const items = [
    aPoint(),
    aPoint({ value: null, flags: 1 }),
    aPoint({ value: NaN }),
    aPoint({ labels: labelsOf(128) }),
    aPoint({ labels: { ['k'.repeat(1024)]: '😀'.repeat(65_536), '': '' } }),
    aPoint({ stream: aMetric({ name: '😀'.repeat(1024), unit: '', description: 'd'.repeat(65_536) }) }),
    aPoint({ distribution: { bucket_counts: new Array<number>(4096).fill(1) } }),
  ];
  const { receipt, passed } = await validate([...items]);
  t.strictSame(receipt, { accepted: items.length, refused: [] });
  t.strictSame(passed, [{ tenant: 'a-user', items }]);
});

void t.test('rejects only points that exceed a limit, with position', async (t) => {
  const good = aPoint();
  const bad = aPoint({ labels: labelsOf(129) });
  const { receipt, passed } = await validate([good, bad, good]);
  t.strictSame(receipt, {
    accepted: 2,
    refused: [{ index: 1, reason: '/labels: must not be more than 128, but there are 129' }],
  });
  t.strictSame(passed, [{ tenant: 'a-user', items: [good, good] }]);
});

void t.test('enforces every limit', async (t) => {
  const named = (name: string) => aPoint({ stream: aMetric({ name }) });
  t.equal(await reasonOf(named(' ')), '/stream/name: must not be empty');
  t.equal(await reasonOf(named('a\0b')), '/stream/name: must not contain the character U+0000');
  t.equal(await reasonOf(named('n'.repeat(1025))), '/stream/name: must not be longer than 1024 characters');
  t.match(await reasonOf(aPoint({ stream: aMetric({ unit: 'u'.repeat(1025) }) })), /^\/stream\/unit: /);
  t.match(
    await reasonOf(aPoint({ stream: aMetric({ description: 'd'.repeat(65_537) }) })),
    /^\/stream\/description: must not be longer than 65536/,
  );
  t.match(await reasonOf(aPoint({ labels: { ['k'.repeat(1025)]: 'v' } })), /^\/labels: must not have keys/);
  t.match(await reasonOf(aPoint({ labels: { k: 'v'.repeat(65_537) } })), /^\/labels\/k: must not be longer/);
  t.equal(
    await reasonOf(
      aPoint({ stream: aMetric({ description: '' }), labels: { k: 'long', l: 'long' } }),
      'max_text_length: 3',
    ),
    '/labels/k: must not be longer than 3 characters (and 1 more problem)',
  );
  const many = new Array<number>(3).fill(0);
  for (const distribution of [
    { bucket_counts: many },
    { positive: { offset: 0, bucket_counts: many }, negative: { offset: 0, bucket_counts: [] } },
    { positive: { offset: 0, bucket_counts: [1] }, negative: { offset: 0, bucket_counts: [1, 2] } },
    { quantiles: many.map(() => ({ quantile: 0, value: 1 })) },
  ]) {
    t.match(
      await reasonOf(aPoint({ distribution }), 'max_buckets: 2'),
      /^\/distribution: must not have more than 2/,
    );
  }
  t.match(await reasonOf(aPoint({ exemplars: [{}, {}, {}] }), 'max_buckets: 2'), /^\/exemplars: /);
});
