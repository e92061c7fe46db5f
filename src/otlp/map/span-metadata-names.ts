/**
 * Layout of the `metadata` of a span received by OTLP: every attribute flat under its own key, and the names below, which the mapping
 * fills. The one list of them for the mapping (OTLP to records) and the exporters (back).
 */

/** Names in `metadata` that are not the span's attributes. */
export const RESERVED = [
  /** The resource's attributes. */
  'resource',
  /** `name`, `version`, `attributes` of the instrumentation scope. */
  'scope',
  /** `{name, timestamp, attributes?, dropped_attributes_count?}` of each; the timestamp is ISO 8601 with up to nine digits. */
  'events',
  /** `{trace_id, span_id, trace_state?, flags?, attributes?, dropped_attributes_count?}` of each; the ids are hex. */
  'links',
  /** See {@link OtelNotes}. */
  'otel',
  'session_id',
  'user_id',
  /** A list of texts. */
  'tags',
  'provider',
  /** `{started_at?, ended_at?}` as sent, if replaced: an end before the start, or times too far in the future. */
  'clock_skew',
  /** True if the span was sent as its own parent. */
  'self_parent',
] as const;

/**
 * `metadata.otel`, which all spans received by OTLP have, and no others. A missing field was empty or zero; a missing `name` or
 * `status_message` was the same as the span's `name` or `error_message`.
 */
export interface OtelNotes {
  /** 32 and 16 hex digits. */
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id?: string;
  /** One of {@link SPAN_KINDS}, or the number of another kind. */
  readonly kind?: string | number;
  readonly trace_state?: string;
  readonly flags?: number;
  /** The full name, if the span shows a cut name or a tool's name instead. */
  readonly name?: string;
  /** 1 ok, 2 error. */
  readonly status_code?: number;
  /** Empty if the span shows an error message that was not sent as its status. */
  readonly status_message?: string;
  /** Nanoseconds to be added to start and end, or to those in `clock_skew`: 1 to 999. */
  readonly start_nanos?: number;
  readonly end_nanos?: number;
  readonly dropped_attributes_count?: number;
  readonly dropped_events_count?: number;
  readonly dropped_links_count?: number;
  /** All attributes whose keys are in {@link RESERVED}, because the value under the key itself may come from the mapping. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** By OTLP's number of each; 0, unspecified, is left out. */
export const SPAN_KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
