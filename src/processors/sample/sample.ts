import type { Component } from '../../component/component.js';
import type { Consumer, Refusal } from '../../component/consumer.js';
import { droppedItems } from '../../component/dropped-items.js';
import type { Settings } from '../../component/factory.js';
import { consumeKept, replaceItems } from '../../component/keep-items.js';
import { identityView } from '../../expressions/scope/scopes.js';
import type { TracesBatch } from '../../signal/batch.js';
import type { SampleConfig } from './config.js';
import { Decider, withShare } from './decider.js';

/** Processor `sample` where it decides when a trace comes: see README.md. */
export function createSample(
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
    async consume(batch, context) {
      const identity = identityView(batch, context);
      const left = new Set<number>();
      const refused: Refusal[] = [];
      replaceItems(batch, (item, index) => {
        const decision = decider.decide(item, identity);
        // Others may read the same item, so that the header is a new one.
        if (decision.isKept)
          return samples ? { ...item, trace: withShare(item.trace, decision.share) } : item;
        if (decision.isRefused)
          refused.push({
            index,
            id: item.trace.trace_id,
            reason: 'a condition of the sample processor cannot be evaluated for it',
          });
        else left.add(index);
        return item;
      });
      const receipt = await consumeKept(batch, { refused, dropped: left }, next, context);
      if (left.size > 0) dropped.add(left.size, labels);
      return receipt;
    },
  };
}
