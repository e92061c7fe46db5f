import type { BroughtBy } from '../../expressions/scope/identity-fields.js';
import {
  eventScope,
  logScope,
  spanScope,
  traceScope,
  traceView,
  type Scope,
} from '../../expressions/scope/scopes.js';
import type { View } from '../../expressions/scope/view.js';
import type { Batch, Batches } from '../../signal/batch.js';
import type { ItemName } from './config.js';

/** What one body is made of. */
export interface Unit {
  readonly record: object;
  /** What expressions read of it. */
  readonly scope: Scope;
}

/** The items of a batch as bodies are made of them. @param batch of the signal that the item has */
export function unitsOf(item: ItemName, batch: Batch<unknown>, identity: View<BroughtBy>): readonly Unit[] {
  switch (item) {
    case 'event':
      return (batch as Batches['events']).items.map((event) => ({
        record: event,
        scope: eventScope(event, identity),
      }));
    case 'log':
      return (batch as Batches['logs']).items.map((log) => ({ record: log, scope: logScope(log, identity) }));
    case 'trace':
      return (batch as Batches['traces']).items.map((trace) => ({
        record: trace,
        scope: traceScope(traceView(trace), identity),
      }));
    case 'span':
      return (batch as Batches['traces']).items.flatMap((trace) => {
        const view = traceView(trace);
        return trace.spans.map((span) => ({ record: span, scope: spanScope(span, view, identity) }));
      });
  }
}
