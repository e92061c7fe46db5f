import type { Component } from '../../component/component.js';
import type { Consumer, Refusal } from '../../component/consumer.js';
import { droppedItems } from '../../component/dropped-items.js';
import type { Settings } from '../../component/factory.js';
import { consumeKept } from '../../component/keep-items.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import type { Sender } from '../../expressions/scope/identity-fields.js';
import { identityView, logScope, spanScope, traceScope, traceView } from '../../expressions/scope/scopes.js';
import type { View } from '../../expressions/scope/view.js';
import type { Batch, LogsBatch, TracesBatch } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { TransformConfig } from './config.js';
import { Rules, type Fate } from './rules.js';
import { LOG_TARGETS, SPAN_TARGETS, TRACE_TARGETS } from './targets.js';

/** Processor `transform` for log records: see README.md. */
export function createLogTransform(
  settings: Settings<TransformConfig>,
  next: Consumer<LogsBatch>,
): Component & Consumer<LogsBatch> {
  const rules = new Rules('logs', settings, LOG_TARGETS, new EvaluationFailures(settings));
  return transformOf<LogRecord, LogsBatch>(settings, next, 'logs', rules.areNone, (log, identity) =>
    rules.apply(log, () => logScope(log, identity)),
  );
}

/** Processor `transform` for traces: the header first, then each span. */
export function createTraceTransform(
  settings: Settings<TransformConfig>,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const failures = new EvaluationFailures(settings);
  const headers = new Rules('traces', settings, TRACE_TARGETS, failures);
  const spans = new Rules('spans', settings, SPAN_TARGETS, failures);
  const counter = droppedItems(settings.meter);
  const labels = { processor: settings.id, item: 'spans' };
  counter.add(0, labels);
  return transformOf<TraceRecord, TracesBatch>(
    settings,
    next,
    'traces',
    headers.areNone && spans.areNone,
    (item, identity) => {
      const fate = headers.apply(item.trace, () => traceScope(traceView(item), identity));
      if (fate !== 'keep' || spans.areNone) return fate;
      const before = item.spans.length;
      const ofAll = ofSpans(item, spans, identity);
      if (ofAll !== 'refuse' && item.spans.length < before) counter.add(before - item.spans.length, labels);
      return ofAll;
    },
  );
}

/** A dropped span is removed from its trace; a refused span refuses the trace. */
function ofSpans(item: TraceRecord, rules: Rules<SpanRecord>, identity: View<Sender>): Fate {
  let kept = 0;
  for (const span of item.spans) {
    const fate = rules.apply(span, () => spanScope(span, traceView(item), identity));
    if (fate === 'refuse') return fate;
    if (fate === 'keep') item.spans[kept++] = span;
  }
  const hasLost = kept < item.spans.length;
  item.spans.length = kept;
  return hasLost && kept === 0 && item.trace.follows_spans ? 'drop' : 'keep';
}

function transformOf<Item, B extends Batch<Item>>(
  { id, meter }: Settings<TransformConfig>,
  next: Consumer<B>,
  label: string,
  isIdle: boolean,
  change: (item: Item, identity: View<Sender>) => Fate,
): Component & Consumer<B> {
  const counter = droppedItems(meter);
  const labels = { processor: id, item: label };
  counter.add(0, labels);
  return {
    async consume(batch, context) {
      if (isIdle) return next.consume(batch, context);
      const identity = identityView(batch, context);
      const dropped = new Set<number>();
      const refused: Refusal[] = [];
      batch.items.forEach((item, index) => {
        const fate = change(item, identity);
        if (fate === 'drop') dropped.add(index);
        else if (fate === 'refuse')
          refused.push({
            index,
            reason: 'an expression of the transform processor cannot be evaluated',
          });
      });
      return consumeKept(batch, { refused, dropped }, next, context).then((receipt) => {
        if (dropped.size > 0) counter.add(dropped.size, labels);
        return receipt;
      });
    },
  };
}
