import type { SpanType } from '../../signal/span.js';
import type { Kind } from './conventions/convention.js';
import type { SpanReading } from './span-reading.js';

const CLIENT = 3;
const SERVER = 2;

/**
 * The type of a span: the first row of the table in `src/otlp/README.md` that holds.
 *
 * @param kind what attributes or the name of the span call it
 * @param hasDb whether the span has any attribute `db.*`
 */
export function spanType(
  reading: SpanReading,
  kind: Kind | null,
  otlpKind: number,
  isRoot: boolean,
  hasDb: boolean,
): SpanType {
  // Rows 1 to 5: the order is the rank of the sources.
  if (kind !== null) return typeOfKind(kind, isRoot, hasDb);
  if (reading.has('is_tool')) return 'tool';
  if (reading.has('is_model')) return 'llm';
  // Databases that are spoken to over HTTP have the attributes of both.
  if (reading.has('is_db')) return 'db';
  if (reading.has('is_http') && otlpKind === CLIENT) return 'http';
  if (reading.has('is_rpc') && otlpKind !== SERVER) return 'http';
  if (reading.has('is_agent') || isRoot) return 'agent';
  return 'custom';
}

function typeOfKind(kind: Kind, isRoot: boolean, hasDb: boolean): SpanType {
  switch (kind) {
    case 'retrieval':
      return hasDb ? 'db' : 'tool';
    case 'agent at the root':
      return isRoot ? 'agent' : 'custom';
    case 'chain':
      return 'custom';
    default:
      return kind;
  }
}
