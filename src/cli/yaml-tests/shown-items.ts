import { jsonOf } from '../../expressions/json-value.js';
import { RECORD_TYPES } from '../../expressions/scope/record-types.js';
import { resourceOf } from '../../otlp/map/resource-of.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Batches, Signal } from '../../signal/batch.js';

/** Records with the field names of expressions and with their resource. */
export function shownItems<S extends Signal>(signal: S, { items }: Batches[S]): readonly JsonValue[] {
  switch (signal) {
    case 'traces':
      return (items as Batches['traces']['items']).map((record) => ({
        ...shown(new RECORD_TYPES.trace.view(record)),
        spans: record.spans.map((span) =>
          withResource(shown(new RECORD_TYPES.span.view(span)), resourceOf(span)),
        ),
      }));
    case 'logs':
      return (items as Batches['logs']['items']).map((log) =>
        withResource(shown(new RECORD_TYPES.log.view(log)), log.origin.resource),
      );
    case 'metrics':
      return (items as Batches['metrics']['items']).map((point) =>
        withResource(shown(new RECORD_TYPES.point.view(point)), point.stream.origin.resource),
      );
    default:
      return (items as Batches['events']['items']).map((event) => shown(new RECORD_TYPES.event.view(event)));
  }
}

function shown(view: unknown): JsonObject {
  return jsonOf(view) as JsonObject;
}

function withResource(item: JsonObject, resource: JsonObject): JsonObject {
  return Object.keys(resource).length === 0 ? item : { ...item, resource };
}
