import type { Component } from '../../component/component.js';
import type { Consumer, Refusal } from '../../component/consumer.js';
import { droppedItems } from '../../component/dropped-items.js';
import type { Settings } from '../../component/factory.js';
import { consumeKept } from '../../component/keep-items.js';
import { Conditions, type Verdict } from '../../expressions/conditions.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import { identityView, traceScope, traceView } from '../../expressions/scope/scopes.js';
import type { TracesBatch } from '../../signal/batch.js';
import type { SampleConfig } from './config.js';
import { IdSampler } from './id-sampler.js';

/** Processor `sample`: see README.md. */
export function createSample(
  settings: Settings<SampleConfig>,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const { config, id, meter } = settings;
  const failures = new EvaluationFailures(settings);
  // A failed one is told apart from one that is not true: what nobody knows is kept.
  const onError = config.on_error === 'keep' ? 'true' : config.on_error;
  const conditions = new Conditions('keep', config.keep, 'trace', { onError, failures });
  const sampler = new IdSampler(config.percentage);
  const dropped = droppedItems(meter);
  const labels = { processor: id, item: 'traces' };
  dropped.add(0, labels);
  return {
    async consume(batch, context) {
      const identity = identityView(batch, context);
      const left = new Set<number>();
      const refused: Refusal[] = [];
      batch.items.forEach((item, index) => {
        if (sampler.isKept(item.trace.trace_id)) return;
        const verdict: Verdict = conditions.areNone
          ? 'false'
          : conditions.judge(traceScope(traceView(item), identity));
        if (verdict === 'true') return;
        if (verdict === 'refuse')
          refused.push({
            index,
            id: item.trace.trace_id,
            reason: 'a condition of the sample processor cannot be evaluated for it',
          });
        else left.add(index);
      });
      const receipt = await consumeKept(batch, { refused, dropped: left }, next, context);
      if (left.size > 0) dropped.add(left.size, labels);
      return receipt;
    },
  };
}
