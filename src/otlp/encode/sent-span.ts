import type { JsonObject } from '../../signal/attributes.js';
import { mappedMetadata } from '../map/mapped-metadata.js';
import type { Resource, Scope, Span } from '../wire/requests.js';
import { resourceOf, scopeOf } from './origin.js';
import { encodeSpan, type KeptFields } from './span.js';
import { objectOf } from './value.js';

/** A span as its client sent it, with the resource and the scope that it came under. */
export interface SentSpan {
  readonly span: Span;
  readonly resource: Resource;
  readonly scope: Scope;
}

/** @returns undefined for a span that did not come by OTLP */
export function sentSpan(span: KeptFields, metadata: JsonObject | null): SentSpan | undefined {
  const mapped = mappedMetadata({ trace_id: span.trace_id, metadata });
  if (mapped === undefined) return undefined;
  return {
    span: encodeSpan(span, mapped),
    resource: resourceOf(objectOf(mapped.metadata['resource']) ?? {}),
    scope: scopeOf(objectOf(mapped.metadata['scope']) ?? null),
  };
}
