import t from 'tap';
import { ConsumeError } from '../../src/component/consume-error.js';
import { batchOf, metricValues, startEngine } from '../support/engine.js';
import { aTrace } from '../support/run-records.js';
import { EngineComponents } from '../support/engine-components.js';

const CONFIG = `receivers: { source: {} }
processors: { pass: {} }
exporters: { sink: {}, sink/b: {} }
service:
  pipelines:
    traces: { receivers: [source], processors: [pass], exporters: [sink, sink/b] }
`;

void t.test('every edge counts offered, accepted, refused and failed items', async (t) => {
  let answer: 'take' | 'refuse' | 'fail' | 'crash' = 'take';
  const components = new EngineComponents({
    'sink/b': {
      consume: async (batch) => {
        const count = batch.items.length;
        switch (answer) {
          case 'take':
            return { accepted: count, refused: [] };
          case 'refuse':
            return { accepted: count - 1, refused: [{ index: 0, reason: 'no' }] };
          case 'fail':
            throw new ConsumeError('full', { code: 'overloaded', retryable: true });
          case 'crash':
            throw new TypeError('x is undefined');
        }
      },
    },
  });
  const { meter, logger } = await startEngine(t, { config: CONFIG, factories: components.factories });
  t.strictSame(await metricValues(meter, 'jackdaw_receiver_accepted_items_total'), {
    'jackdaw_receiver_accepted_items_total{receiver="source",signal="traces"}': 0,
  });

  t.strictSame(await components.send('source', batchOf('1', '2', '3')), { accepted: 3, refused: [] });
  answer = 'refuse';
  t.match(await components.send('source', batchOf('4', '5')), { accepted: 1, refused: [{ index: 0 }] });
  answer = 'fail';
  await t.rejects(components.send('source', batchOf('6')), { code: 'overloaded' });
  t.notMatch(logger.lines.join('\n'), /unexpected/, 'a component logs its expected errors itself');
  answer = 'crash';
  await t.rejects(components.send('source', batchOf('7')), { code: 'internal_error', retryable: true });
  t.equal(logger.lines.filter((line) => /unexpected/.test(line)).length, 1, 'logged once, at its origin');
  t.match(logger.lines.join('\n'), /exporter="sink\/b"/);

  for (const [word, receiver, first] of [
    ['offered', 7, 7],
    ['accepted', 4, 7],
    ['refused', 1, 0],
    ['failed', 2, 0],
  ] as const) {
    const name = (kind: string) => `jackdaw_${kind}_${word}_items_total`;
    t.strictSame(await metricValues(meter, name('receiver')), {
      [`${name('receiver')}{receiver="source",signal="traces"}`]: receiver,
    });
    t.strictSame(await metricValues(meter, name('processor')), {
      [`${name('processor')}{processor="pass",signal="traces",pipeline="traces"}`]: receiver,
    });
    t.strictSame(await metricValues(meter, name('exporter')), {
      [`${name('exporter')}{exporter="sink",signal="traces"}`]: first,
      [`${name('exporter')}{exporter="sink/b",signal="traces"}`]: receiver,
    });
  }
  const counts = await metricValues(meter, 'jackdaw_exporter_consume_duration_seconds_count');
  t.strictSame(Object.values(counts), [4, 4]);
});

void t.test(
  'a receiver feeds every pipeline of its signal, and changes stay in their pipeline',
  async (t) => {
    const components = new EngineComponents({
      mutate: {
        consume: async (batch, next) => {
          for (const { trace } of batch.items) trace.agent = 'changed';
          return (await next?.consume(batch, { receivedAt: 0 })) ?? { accepted: 0, refused: [] };
        },
      },
    });
    await startEngine(t, {
      factories: components.factories,
      config: `receivers: { source: {} }
processors: { mutate: {} }
exporters: { sink: {}, sink/b: {} }
service:
  pipelines:
    traces: { receivers: [source], exporters: [sink] }
    traces/changed: { receivers: [source], processors: [mutate], exporters: [sink/b] }
`,
    });
    t.strictSame(await components.send('source', batchOf('1')), { accepted: 1, refused: [] });
    t.equal(components.batches.get('sink')?.[0]?.items[0]?.trace.agent, 'a');
    t.equal(components.batches.get('sink/b')?.[0]?.items[0]?.trace.agent, 'changed');
  },
);

/** Three traces with 2, 3 and 4 spans. */
const THREE = [2, 3, 4].map((spans) => aTrace(spans));

for (const [form, batch] of [
  ['records', { tenant: 'tenant', items: THREE }],
  [
    'raw',
    {
      kind: 'raw',
      tenant: 'tenant',
      request: {
        form: 'plain',
        bytes: Buffer.alloc(0),
        items: 3,
        spans: [2, 3, 4],
        totalSpans: 9,
        mostSpans: 4,
      },
      decode: () => THREE,
    },
  ],
] as const)
  void t.test(`counts spans, and those of refused traces separately: ${form}`, async (t) => {
    let fails = false;
    const consume = async () => {
      if (fails) throw new ConsumeError('full', { code: 'overloaded', retryable: true });
      return { accepted: 2, refused: [{ index: 1, reason: 'no' }] };
    };
    const components = new EngineComponents({ sink: { consume, consumeRaw: consume } });
    const { meter } = await startEngine(t, {
      factories: components.factories,
      config: `receivers: { source: {} }
exporters: { sink: {} }
service: { pipelines: { traces: { receivers: [source], exporters: [sink] } } }
`,
    });
    await components.send('source', batch);
    fails = true;
    await t.rejects(components.send('source', batch));
    for (const [word, items, spans] of [
      ['offered', 6, 18],
      ['accepted', 2, 6],
      ['refused', 1, 3],
      ['failed', 3, 9],
    ] as const)
      for (const [kind, id] of [
        ['receiver', 'source'],
        ['exporter', 'sink'],
      ] as const) {
        const of = async (name: string) =>
          Object.values(await metricValues(meter, `jackdaw_${kind}_${word}_${name}_total{${kind}="${id}"`));
        t.strictSame(await of('items'), [items], `${kind} ${word}`);
        t.strictSame(await of('spans'), [spans], `${kind} ${word}`);
      }
  });
