import { mappedMetadata } from '../../../otlp/map/mapped-metadata.js';
import type { JsonObject } from '../../../signal/attributes.js';
import { DIMENSIONS, type RunContext } from '../../../signal/run-context.js';
import { replaceSent, sentOf, type SentSpan } from '../../../signal/sent-span.js';
import { attributesOf, scoreTexts, type ScoreRecord } from '../../../signal/score.js';
import type { SpanRecord } from '../../../signal/span.js';
import type { Redactor } from '../values/redactor.js';
import type { Redaction } from './redaction.js';
import { redactSent, redactSentOrigin } from './sent.js';

/** Ids of a span sent by OTLP: hex digits that cannot contain anything else. */
const IDS = ['trace_id', 'span_id', 'parent_span_id'] as const;

/** Redacts a span in place: its fields and its sent bytes. */
export function redactSpan(span: SpanRecord, redaction: Redaction): void {
  const { redactor, fields, gate } = redaction;
  const sent = sentOf(span);
  if (sent === undefined) {
    if (fields.has('metadata')) redactMetadata(span, redactor);
  } else if (gate.mayHold(sent.bytes)) {
    const redacted = redactSent(sent, redaction);
    if (redacted !== sent) replaceSent(span, redacted);
  } else {
    const origin = fields.has('metadata') ? redactSentOrigin(sent.origin, redaction) : sent.origin;
    if (origin !== sent.origin) replaceSent(span, { ...sent, origin });
    // If the bytes contain nothing to redact, neither do the values decoded from them.
    else if (isAsRead(span, sent)) return;
  }
  redactFields(span, redaction);
}

/** Whether the values decoded from the bytes are unchanged. */
function isAsRead(span: SpanRecord, { mapped }: SentSpan): boolean {
  return (
    span.name === mapped.name &&
    span.error_message === mapped.error_message &&
    span.input_data === mapped.input_data &&
    span.output_data === mapped.output_data &&
    span.context === mapped.context
  );
}

function redactFields(span: SpanRecord, { redactor, fields }: Redaction): void {
  if (fields.has('name')) span.name = redactor.text(span.name);
  if (fields.has('error_message')) span.error_message = redactor.nullableText(span.error_message);
  if (fields.has('input_data')) span.input_data = redactor.object(span.input_data);
  if (fields.has('output_data')) span.output_data = redactor.object(span.output_data);
  if (!fields.has('metadata')) return;
  // These come from attributes.
  span.scores = span.scores?.map((score) => redactScore(score, redactor)) ?? null;
  if (span.context !== null) span.context = redactContext(span.context, redactor);
  span.map_hint = redactor.nullableText(span.map_hint);
  if (span.agent_hint !== null) {
    const name = redactor.text(span.agent_hint.name);
    if (name !== span.agent_hint.name) span.agent_hint = { ...span.agent_hint, name };
  }
}

function redactMetadata(span: SpanRecord, redactor: Redactor): void {
  const { metadata } = span;
  const redacted = redactor.object(metadata);
  if (redacted === metadata) return;
  const otel = mappedMetadata(span)?.otel;
  span.metadata = otel === undefined ? redacted : withIds(redacted, otel);
}

function withIds(metadata: JsonObject | null, otel: JsonObject): JsonObject {
  const kept: JsonObject = { ...(metadata?.['otel'] as JsonObject) };
  for (const name of IDS) if (otel[name] !== undefined) kept[name] = otel[name];
  return { ...metadata, otel: kept };
}

function redactScore(score: ScoreRecord, redactor: Redactor): ScoreRecord {
  const sent = attributesOf(score);
  const redacted = redactor.object(sent);
  return redacted === sent ? score : { ...score, ...scoreTexts(redacted) };
}

function redactContext(context: RunContext, redactor: Redactor): RunContext {
  const fields: JsonObject = {};
  if (context.session_id !== null) fields['session_id'] = context.session_id;
  if (context.user_id !== null) fields['user_id'] = context.user_id;
  if (context.tags !== null) fields['tags'] = [...context.tags];
  for (const field of DIMENSIONS) if (context[field] !== null) fields[field] = context[field];
  const redacted = redactor.object(fields);
  if (redacted === fields) return context;
  const { session_id, user_id, tags, environment, release, agent_version, repository } = redacted;
  return {
    session_id: textOf(session_id),
    user_id: textOf(user_id),
    tags: Array.isArray(tags) ? tags.map(String) : typeof tags === 'string' ? [tags] : null,
    environment: textOf(environment),
    release: textOf(release),
    agent_version: textOf(agent_version),
    repository: textOf(repository),
  };
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
