import { exported, type PluginTemplate } from './template.js';

/** Marks spans and rejects traces: the two effects that a processor can have. */
export const processorTemplate: PluginTemplate = {
  does: 'A processor: it writes a value into the metadata of every span, and rejects traces of unwanted agents.',
  config: ({ type }) => `processors:
  ${type}:
    key: team
    value: search
    refused_agents: [] # agents whose traces are rejected
service:
  pipelines:
    traces: { processors: [validation, ${type}] }
`,
  plugin: (of) => `// @ts-check
import { consumeUnrefused, section, Type } from 'jackdaw';

const configSchema = section({
  key: Type.String({ default: 'team', minLength: 1, description: 'The key in the metadata of spans.' }),
  value: Type.String({ default: 'unknown', description: 'The value of the key.' }),
  refused_agents: Type.Array(Type.String(), { default: [], description: 'Agents whose traces are rejected.' }),
});

/** @type {import('jackdaw').ProcessorFactory<typeof configSchema>} */
export const processor = {
  kind: 'processor',
  type: '${of.type}',
  description: 'Writes a value into the metadata of every span.',
  stability: 'alpha',
  mutatesBatch: true, // the engine copies items that other pipelines share
  placement: () => 'any', // each intake thread has a copy, because the processor remembers nothing
  configSchema,
  create: {
    traces({ config, next, meter, id }) {
      const marked = meter.counter('${of.type}_spans_total', {
        description: 'Marked spans.',
        labelNames: ['processor'],
      });
      return {
        async consume(batch, context) {
          const refused = batch.items.flatMap(({ trace }, index) =>
            config.refused_agents.includes(trace.agent)
              ? [{ index, id: trace.trace_id, reason: '/trace/agent: must not be one of refused_agents' }]
              : [],
          );
          for (const { spans } of batch.items)
            for (const span of spans) {
              span.metadata = { ...span.metadata, [config.key]: config.value };
              marked.add(1, { processor: id });
            }
          return consumeUnrefused(batch, refused, next, context);
        },
      };
    },
  },
};

${exported(of, 'processor')}`,
  test: (of) => `// @ts-check
import assert from 'node:assert/strict';
import test from 'node:test';
import { CaptureConsumer, conformance, sampleBatch, sectionOf, TestClock, TestLogger, TestMeter } from 'jackdaw/testing';
import { processor } from './plugin.js';

const unwanted = () => {
  const batch = sampleBatch('traces', 3);
  for (const item of batch.items.slice(1, 2)) item.trace.agent = 'unwanted';
  return batch;
};
const subject = {
  config: { refused_agents: ['unwanted'] },
  refusals: [{ signal: /** @type {const} */ ('traces'), batch: unwanted, refused: [1] }],
};

test('keeps the contract of components', async (t) => {
  for (const { name, run } of conformance(processor, subject)) await t.test(name, run);
});

test('writes the value into every span and rejects unwanted agents', async () => {
  const next = new CaptureConsumer();
  const meter = new TestMeter();
  const component = processor.create.traces?.({
    id: '${of.type}',
    config: sectionOf(processor, { key: 'team', value: 'search', refused_agents: ['unwanted'] }),
    next,
    meter,
    logger: new TestLogger(),
    clock: new TestClock(),
  });
  const receipt = await component?.consume(unwanted(), { receivedAt: 0 });
  assert.deepEqual(receipt?.refused.map(({ index }) => index), [1]);
  const items = /** @type {import('jackdaw').TracesBatch['items']} */ (next.items);
  assert.equal(items.length, 2);
  for (const { spans } of items) for (const span of spans) assert.equal(span.metadata?.team, 'search');
  assert.equal(meter.value('${of.type}_spans_total', { processor: '${of.type}' }), 6);
});
`,
};
