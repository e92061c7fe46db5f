import type { Component } from '../../component/component.js';
import type { Consumer, Refusal } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import { consumeKept } from '../../component/keep-items.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import type { Sender } from '../../expressions/scope/identity-fields.js';
import {
  identityView,
  spanScope,
  traceScope,
  traceView,
  type Scope,
} from '../../expressions/scope/scopes.js';
import type { View } from '../../expressions/scope/view.js';
import type { Batch, TracesBatch } from '../../signal/batch.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { FilterConfig } from './config.js';
import { type ListName, LISTS } from './conditions.js';
import type { Counter } from '../../component/telemetry.js';
import { droppedItems } from '../../component/dropped-items.js';
import { Conditions } from '../../expressions/conditions.js';

/** The remainder of a trace. */
interface Left {
  readonly fate: Fate;
  /** The trace, maybe with fewer spans. */
  readonly left: TraceRecord;
  /** The number of its spans that were dropped individually. */
  readonly dropped: number;
}

/** Processor `filter` for log records, metric points and events: see README.md. */
export function createItemFilter<Item, B extends Batch<Item>>(
  list: ListName,
  scopeOf: (item: Item, identity: View<Sender>) => Scope,
  settings: Settings<FilterConfig>,
  next: Consumer<B>,
): Component & Consumer<B> {
  const failures = new EvaluationFailures(settings);
  const itemFilter = new ItemFilter(list, settings, failures);
  return {
    ...failures.shared,
    async consume(batch, context) {
      if (itemFilter.isOpen) return next.consume(batch, context);
      const identity = identityView(batch, context);
      const dropped = new Set<number>();
      const refused: Refusal[] = [];
      batch.items.forEach((item, index) => {
        const fate = itemFilter.judge(scopeOf(item, identity));
        if (fate === 'drop') dropped.add(index);
        else if (fate === 'refuse') refused.push(refusalOf(index));
      });
      return consumeKept(batch, { refused, dropped }, next, context).then((receipt) => {
        itemFilter.count(dropped.size);
        return receipt;
      });
    },
  };
}

/** Processor `filter` for traces: evaluates the trace first, then its spans. */
export function createTraceFilter(
  settings: Settings<FilterConfig>,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const failures = new EvaluationFailures(settings);
  const traces = new ItemFilter('traces', settings, failures);
  const spans = new ItemFilter('spans', settings, failures);
  return {
    ...failures.shared,
    async consume(batch, context) {
      if (traces.isOpen && spans.isOpen) return next.consume(batch, context);
      const identity = identityView(batch, context);
      const dropped = new Set<number>();
      const refused: Refusal[] = [];
      let droppedSpans = 0;
      const items = batch.items.map((item, index) => {
        const { fate, left, dropped: spansDropped } = leftOf(item, identity, traces, spans);
        if (fate === 'drop') dropped.add(index);
        else if (fate === 'refuse') refused.push(refusalOf(index, item.trace.trace_id));
        droppedSpans += spansDropped;
        return left;
      });
      return consumeKept({ ...batch, items }, { refused, dropped }, next, context).then((receipt) => {
        traces.count(dropped.size);
        spans.count(droppedSpans);
        return receipt;
      });
    },
  };
}

function leftOf(item: TraceRecord, identity: View<Sender>, traces: ItemFilter, spans: ItemFilter): Left {
  const view = traceView(item);
  const fate = traces.judge(traceScope(view, identity));
  if (fate !== 'keep' || spans.isOpen) return { fate, left: item, dropped: 0 };
  const kept: SpanRecord[] = [];
  for (const span of item.spans) {
    const ofSpan = spans.judge(spanScope(span, view, identity));
    if (ofSpan === 'refuse') return { fate: 'refuse', left: item, dropped: 0 };
    if (ofSpan === 'keep') kept.push(span);
  }
  const dropped = item.spans.length - kept.length;
  if (dropped === 0) return { fate: 'keep', left: item, dropped };
  // A declared header can remain without spans; a header derived from spans is dropped with the last one.
  const isGone = kept.length === 0 && item.trace.follows_spans;
  return { fate: isGone ? 'drop' : 'keep', left: { trace: item.trace, spans: kept }, dropped };
}

/** The result for an item. */
type Fate = 'keep' | 'drop' | 'refuse';

const FATES = { true: 'drop', false: 'keep', drop: 'drop', refuse: 'refuse' } as const;

/** The conditions of one list, and the count of what they drop. */
class ItemFilter {
  readonly #conditions: Conditions;
  readonly #dropped: Counter;
  readonly #labels: { readonly processor: string; readonly item: ListName };

  constructor(list: ListName, settings: Settings<FilterConfig>, failures: EvaluationFailures) {
    const { config, meter, id } = settings;
    const options = { onError: config.on_error, failures };
    this.#conditions = new Conditions(list, config[list], LISTS[list], options);
    this.#labels = { processor: id, item: list };
    this.#dropped = droppedItems(meter);
    this.#dropped.add(0, this.#labels);
  }

  get isOpen(): boolean {
    return this.#conditions.areNone;
  }

  judge(scope: Scope): Fate {
    return FATES[this.#conditions.judge(scope)];
  }

  count(dropped: number): void {
    if (dropped > 0) this.#dropped.add(dropped, this.#labels);
  }
}

/** The refusal of an item for which a condition failed. */
function refusalOf(index: number, id?: string): Refusal {
  const reason = 'a condition of the filter cannot be evaluated';
  return id === undefined ? { index, reason } : { index, id, reason };
}
