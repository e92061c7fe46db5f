import type { JsonObject } from '../../signal/attributes.js';
import { sentCall } from '../../signal/call-details.js';
import type { SentSpan } from '../../signal/sent-span.js';
import { SPAN_ATTRIBUTES } from '../map/conventions/jackdaw.js';
import { mappedMetadata } from '../map/mapped-metadata.js';
import { isOwnKey } from '../map/own-attributes.js';
import { readSent, readSentOrigin } from '../map/span-metadata.js';
import type { KeyValue, Resource, Scope, Span } from '../wire/requests.js';
import { microsToNanos } from './int64.js';
import { resourceOf, scopeOf } from './origin.js';
import { ownAttributes } from './own-attributes.js';
import { encodeSpan, type KeptFields } from './span.js';
import { objectOf } from './value.js';

/** A span as its client sent it, with its resource and scope. */
interface ShownSpan {
  readonly span: Span;
  readonly resource: Resource;
  readonly scope: Scope;
}

/** @param sent the received bytes, if they are kept @returns undefined for a span that was not received by OTLP */
export function shownSpan(
  span: KeptFields,
  metadata: JsonObject | null,
  sent: { readonly bytes: Uint8Array; readonly origin: Uint8Array } | null,
): ShownSpan | undefined {
  if (sent !== null) {
    const message = readSent(sent.bytes);
    const { resource, scopeSpans } = readSentOrigin(sent.origin);
    return {
      span: { ...message, attributes: clientsOwn(message) },
      resource: resource ?? {},
      scope: scopeSpans?.[0]?.scope ?? {},
    };
  }
  const mapped = mappedMetadata({ trace_id: span.trace_id, metadata });
  if (mapped === undefined) return undefined;
  return {
    span: encodeSpan(span, mapped),
    resource: resourceOf(objectOf(mapped.metadata['resource']) ?? {}),
    scope: scopeOf(objectOf(mapped.metadata['scope']) ?? null),
  };
}

/** A span as it was received, except for later changes of the record. */
export function encodeSent(span: KeptFields, { bytes, mapped }: SentSpan): Span {
  const message = readSent(bytes);
  const { name, started_at, ended_at, error_message } = span;
  const status = { code: message.status?.code, message: error_message ?? undefined };
  return {
    ...message,
    attributes: [...clientsOwn(message), ...pricedCost(span)],
    // Jackdaw trims names.
    ...(name === mapped.name || name === mapped.name.trim() ? {} : { name }),
    ...(error_message === mapped.error_message ? {} : { status }),
    ...(started_at === mapped.started_at ? {} : { startTimeUnixNano: microsToNanos(started_at) }),
    ...(ended_at === mapped.ended_at
      ? {}
      : { endTimeUnixNano: ended_at === null ? undefined : microsToNanos(ended_at) }),
  };
}

/** Whether {@link encodeSent} would change nothing, except for leaving out Jackdaw's own attributes. */
export function isAsSent(span: KeptFields, { mapped }: SentSpan): boolean {
  const { name, started_at, ended_at, error_message } = span;
  return (
    (name === mapped.name || name === mapped.name.trim()) &&
    error_message === mapped.error_message &&
    started_at === mapped.started_at &&
    ended_at === mapped.ended_at &&
    pricedCost(span).length === 0
  );
}

/** The attributes without Jackdaw's own. */
function clientsOwn({ attributes }: Span): readonly KeyValue[] {
  return (attributes ?? []).filter(({ key }) => !isOwnKey(key ?? ''));
}

/** A cost from a price table is sent as Jackdaw's own attribute. */
function pricedCost({ cost_usd, call }: KeptFields): KeyValue[] {
  if (cost_usd === null || call?.cost?.source !== 'priced') return [];
  return ownAttributes(
    { cost_usd, call: sentCall(call) },
    { cost_usd: SPAN_ATTRIBUTES.cost_usd, call: SPAN_ATTRIBUTES.call },
  );
}
