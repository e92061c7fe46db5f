import type { ProcessorFactory, Settings } from '../../component/factory.js';
import { sizeBytes } from '../../config/size.js';
import { conditionProblems } from '../../expressions/conditions.js';
import { sampleConfig } from './config.js';
import { TailSample } from './tail/tail-sample.js';
import type { Component } from '../../component/component.js';
import type { Consumer, Refusal } from '../../component/consumer.js';
import { droppedItems } from '../../component/dropped-items.js';
import { consumeKept } from '../../component/keep-items.js';
import { identityView } from '../../expressions/scope/scopes.js';
import type { TracesBatch } from '../../signal/batch.js';
import type { SampleConfig } from './config.js';
import { Decider, withShare } from './decider.js';

const LEAST_BYTES = 1024 * 1024;

export const sampleProcessor: ProcessorFactory<typeof sampleConfig> = {
  kind: 'processor',
  type: 'sample',
  description:
    'Keeps a percentage of traces, and all that match a condition, per request or per finished run.',
  stability: 'beta',
  configSchema: sampleConfig,
  mutatesBatch: false,
  placement: ({ wait }) => (wait === undefined ? 'any' : 'main'),
  check: ({ keep, wait, on_error, max_memory, max_disk_size }) => [
    ...conditionProblems('/keep', keep, 'trace'),
    ...(wait !== undefined && on_error === 'refuse'
      ? [
          {
            path: '/on_error',
            message:
              'with wait, runs are acknowledged before the decision and cannot be refused: set keep or drop',
          },
        ]
      : []),
    ...Object.entries({ max_memory, max_disk_size }).flatMap(([key, value]) =>
      sizeBytes(value) < LEAST_BYTES ? [{ path: `/${key}`, message: 'must be at least 1MiB' }] : [],
    ),
  ],
  notBehind: ({ wait }) => (wait === undefined ? [] : ['quota', 'service_map']),
  create: {
    traces: ({ next, ...settings }) => {
      const { wait } = settings.config;
      if (wait === undefined) return createSample(settings, next);
      return new TailSample({ ...settings, config: { ...settings.config, wait } }, next);
    },
  },
};

/** Processor `sample`, deciding on arrival: see README.md. */
function createSample(
  settings: Settings<SampleConfig>,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const { config, id, meter } = settings;
  const decider = new Decider(settings);
  const samples = config.percentage < 100;
  const dropped = droppedItems(meter);
  const labels = { processor: id, item: 'traces' };
  dropped.add(0, labels);
  return {
    ...decider.failures.shared,
    async consume(batch, context) {
      const identity = identityView(batch, context);
      const left = new Set<number>();
      const refused: Refusal[] = [];
      const items = batch.items.map((item, index) => {
        const decision = decider.decide(item, identity);
        // Other consumers may read the same item, so the header is copied.
        if (decision.isKept)
          return samples ? { ...item, trace: withShare(item.trace, decision.share) } : item;
        if (decision.isRefused)
          refused.push({
            index,
            id: item.trace.trace_id,
            reason: 'a condition of the sample processor cannot be evaluated',
          });
        else left.add(index);
        return item;
      });
      return consumeKept({ ...batch, items }, { refused, dropped: left }, next, context).then((receipt) => {
        if (left.size > 0) dropped.add(left.size, labels);
        return receipt;
      });
    },
  };
}
