import { readSent, readSentOrigin } from '../../../otlp/map/span-metadata.js';
import { resourceSpansType, spanType } from '../../../otlp/wire/messages.js';
import type { Span } from '../../../otlp/wire/requests.js';
import type { SentOrigin, SentSpan } from '../../../signal/sent-span.js';
import { redactAttributes } from '../values/attributes.js';
import type { Redaction } from './redaction.js';

/** The sent bytes of a span, redacted and reencoded. @returns the same object if nothing is found */
export function redactSent(sent: SentSpan, redaction: Redaction): SentSpan {
  const { redactor, fields } = redaction;
  const origin = fields.has('metadata') ? redactSentOrigin(sent.origin, redaction) : sent.origin;
  const message = readSent(sent.bytes);
  const redacted = redactMessage(message, redaction);
  const notes = fields.has('metadata') ? redactor.object(sent.notes) : sent.notes;
  if (redacted === message && origin === sent.origin && notes === sent.notes) return sent;
  const { name, error_message } = sent.mapped;
  return {
    bytes: redacted === message ? sent.bytes : spanType.encode(redacted).finish(),
    origin,
    notes,
    mapped: {
      ...sent.mapped,
      name: fields.has('name') ? redactor.text(name) : name,
      error_message: fields.has('error_message') ? redactor.nullableText(error_message) : error_message,
    },
  };
}

function redactMessage(span: Span, { redactor, fields }: Redaction): Span {
  const changes: { -readonly [Field in keyof Span]: Span[Field] } = {};
  if (fields.has('metadata')) {
    const attributes = redactAttributes(span.attributes, redactor);
    if (attributes !== span.attributes) changes.attributes = attributes;
    const events = redactParts(span.events, (event) => {
      const [name, inside] = [redactor.text(event.name ?? ''), redactAttributes(event.attributes, redactor)];
      return name === (event.name ?? '') && inside === event.attributes
        ? event
        : { ...event, name, attributes: inside };
    });
    if (events !== span.events) changes.events = events;
    const links = redactParts(span.links, (link) => {
      const state = redactor.text(link.traceState ?? '');
      const inside = redactAttributes(link.attributes, redactor);
      return state === (link.traceState ?? '') && inside === link.attributes
        ? link
        : { ...link, traceState: state, attributes: inside };
    });
    if (links !== span.links) changes.links = links;
    const state = redactor.text(span.traceState ?? '');
    if (state !== (span.traceState ?? '')) changes.traceState = state;
  }
  if (fields.has('name')) {
    const name = redactor.text(span.name ?? '');
    if (name !== (span.name ?? '')) changes.name = name;
  }
  if (fields.has('error_message')) {
    const message = redactor.text(span.status?.message ?? '');
    if (message !== (span.status?.message ?? '')) changes.status = { ...span.status, message };
  }
  return Object.keys(changes).length === 0 ? span : { ...span, ...changes };
}

/** @returns the same list if nothing changes */
function redactParts<Part, List extends readonly Part[] | null | undefined>(
  parts: List & (readonly Part[] | null | undefined),
  redact: (part: Part) => Part,
): List {
  if (!parts?.length) return parts;
  const redacted = parts.map(redact);
  return redacted.every((part, index) => part === parts[index]) ? parts : (redacted as unknown as List);
}

/** Spans share origins, so results are cached and shared as well. */
export function redactSentOrigin(origin: SentOrigin, { redactor, gate, sentOrigins }: Redaction): SentOrigin {
  const known = sentOrigins.get(origin);
  if (known !== undefined) return known;
  let redacted = origin;
  if (gate.mayHold(origin.bytes)) {
    const { resource, scopeSpans, ...rest } = readSentOrigin(origin.bytes);
    const attributes = redactAttributes(resource?.attributes, redactor);
    let isChanged = attributes !== resource?.attributes;
    const scopes = (scopeSpans ?? []).map((under) => {
      const inside = redactAttributes(under.scope?.attributes, redactor);
      const name = redactor.text(under.scope?.name ?? '');
      if (inside === under.scope?.attributes && name === (under.scope?.name ?? '')) return under;
      isChanged = true;
      return { ...under, scope: { ...under.scope, name, attributes: inside } };
    });
    if (isChanged) {
      const message = { ...rest, resource: { ...resource, attributes }, scopeSpans: scopes };
      redacted = { bytes: resourceSpansType.encode(message).finish() };
    }
  }
  sentOrigins.set(origin, redacted);
  return redacted;
}
