import type { JsonObject } from '../../../signal/attributes.js';
import type { MetricPoint } from '../../../signal/metric.js';
import type { Redactor } from '../values/redactor.js';
import { redactOrigin, redactTexts, type Redaction } from './redaction.js';

/** A metric point, redacted: its metric and attributes, not its values. */
export function redactPoint(point: MetricPoint, redaction: Redaction): MetricPoint {
  const { redactor, fields } = redaction;
  if (!fields.has('attributes')) return point;
  const origin = redactOrigin(point.stream.origin, redaction);
  const stream = origin === point.stream.origin ? point.stream : { ...point.stream, origin };
  return {
    ...point,
    stream,
    labels: redactTexts(point.labels, redactor),
    attributes: redactor.object(point.attributes),
    exemplars: point.exemplars?.map((exemplar) => redactExemplar(exemplar, redactor)) ?? null,
  };
}

function redactExemplar(exemplar: JsonObject, redactor: Redactor): JsonObject {
  const attributes = exemplar['filtered_attributes'];
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) return exemplar;
  return { ...exemplar, filtered_attributes: redactor.object(attributes) };
}
