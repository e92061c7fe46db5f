import type { SpanRecord } from '../../signal/span.js';
import { SPAN_FIELDS } from './span-fields.js';
import { viewType, type View } from './view.js';

export const SPAN_TYPE = viewType<SpanRecord>('Span', SPAN_FIELDS);

export function spanView(span: SpanRecord): View<SpanRecord> {
  return new SPAN_TYPE.view(span);
}
