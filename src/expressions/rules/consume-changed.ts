import type { Component } from '../../component/component.js';
import type { Consumer, Refusal } from '../../component/consumer.js';
import { droppedItems } from '../../component/dropped-items.js';
import type { Settings } from '../../component/factory.js';
import { consumeKept } from '../../component/keep-items.js';
import type { Batch } from '../../signal/batch.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { EvaluationFailures } from '../failures.js';
import type { Sender } from '../scope/identity-fields.js';
import { identityView } from '../scope/scopes.js';
import type { View } from '../scope/view.js';
import type { Fate } from './rules.js';

/** How a processor changes the items of its batches. */
interface Change<Item> {
  readonly failures: EvaluationFailures;
  /** Of the items in `jackdaw_processor_dropped_items_total`. */
  readonly label: string;
  /** Whether no rule applies to these items, so that batches are passed on untouched. */
  readonly isIdle: boolean;
  /** Called for each batch; the result changes an item in place. */
  readonly begin: (identity: View<Sender>) => (item: Item) => Fate;
}

/** A processor that changes items by rules, and drops or refuses those whose rules fail. */
export function consumerOfRules<Item, B extends Batch<Item>>(
  { id, meter }: Settings<unknown>,
  next: Consumer<B>,
  { failures, label, isIdle, begin }: Change<Item>,
): Component & Consumer<B> {
  const countDropped = dropCounter({ id, meter }, label);
  return {
    ...failures.shared,
    async consume(batch, context) {
      if (isIdle) return next.consume(batch, context);
      const change = begin(identityView(batch, context));
      const dropped = new Set<number>();
      const refused: Refusal[] = [];
      batch.items.forEach((item, index) => {
        const fate = change(item);
        if (fate === 'drop') dropped.add(index);
        else if (fate === 'refuse')
          refused.push({ index, reason: `an expression of processor ${id} cannot be evaluated` });
      });
      return consumeKept(batch, { refused, dropped }, next, context).then((receipt) => {
        countDropped(dropped.size);
        return receipt;
      });
    },
  };
}

/** Counts dropped items of a processor. @param item label of the items */
export function dropCounter(
  { id, meter }: Pick<Settings<unknown>, 'id' | 'meter'>,
  item: string,
): (dropped: number) => void {
  const counter = droppedItems(meter);
  const labels = { processor: id, item };
  counter.add(0, labels);
  return (dropped) => {
    if (dropped > 0) counter.add(dropped, labels);
  };
}

/** Changes the spans of a run. A dropped span is removed; a refused span refuses the run. */
export function changeSpans(
  { trace, spans }: TraceRecord,
  change: (span: SpanRecord) => Fate,
  countDropped: (spans: number) => void,
): Fate {
  let kept = 0;
  for (const span of spans) {
    const fate = change(span);
    if (fate === 'refuse') return fate;
    if (fate === 'keep') spans[kept++] = span;
  }
  const lost = spans.length - kept;
  spans.length = kept;
  countDropped(lost);
  return lost > 0 && kept === 0 && trace.follows_spans ? 'drop' : 'keep';
}
