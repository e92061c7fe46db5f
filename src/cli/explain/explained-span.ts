import { serializeUsage } from '../../api/resources/span-usage.js';
import { hasFailed } from '../../storage/shared/logged-events.js';
import { loggedError, loggedPayload } from '../../otlp/map/logged-payload.js';
import { storedCall } from '../../signal/call-details.js';
import { itemAt } from '../../signal/checked.js';
import { EXCEPTION_EVENT, type LoggedEvent } from '../../signal/logged-event.js';
import { EVALUATION_EVENT, type ScoreRecord } from '../../signal/score.js';
import { moneyToNumber } from '../../signal/money.js';
import { NO_CONTEXT, parseContext } from '../../signal/run-context.js';
import {
  AGENT_SOURCES,
  RUN_KINDS,
  RUN_STATUSES,
  SPAN_TYPES,
  type SpanRecord,
  type SpanType,
} from '../../signal/span.js';
import { formatTime } from '../../signal/time.js';
import { duplicateFields } from '../../storage/shared/serialize-run.js';
import type { ExplainedSpan } from './explained.js';
import { noteLater, type Grounds, type GroundsOfSpans } from '../../otlp/map/grounds.js';
import type { StoredSpan } from './stored-runs.js';
import { unreadKeys } from '../../otlp/map/attribute-shapes.js';
import { RESERVED } from '../../otlp/map/span-metadata-names.js';
import type { JsonObject } from '../../signal/attributes.js';

const NO_ATTRIBUTES: ReadonlySet<string> = new Set(RESERVED);

/**
 * Attribute keys of a span that no convention reads, in alphabetical order.
 *
 * @param metadata of the span
 */
function unreadAttributes(metadata: JsonObject): string[] {
  return unreadKeys(Object.keys(metadata).filter((key) => !NO_ATTRIBUTES.has(key))).sort();
}

/** What log records contribute to a span. */
export interface LoggedOfSpan {
  readonly events: readonly LoggedEvent[];
  readonly scores: readonly ScoreRecord[];
}

/**
 * Explains how Jackdaw would show a span.
 *
 * @param depth number of ancestors
 * @param logged from the log records that belong to the span
 */
export function explainedSpan(
  { row, records }: StoredSpan,
  depth: number,
  grounds: GroundsOfSpans,
  { events, scores: logged }: LoggedOfSpan,
): ExplainedSpan {
  // The first record wins; later ones only fill gaps.
  const metadata = firstOf(records.map((record) => record.metadata ?? {}));
  const from = firstOf(records.map((record) => grounds.of(record)));
  // The last record determines the outcome.
  Object.assign(from, ended(grounds.of(itemAt(records, records.length - 1))));
  const type = itemAt(SPAN_TYPES, row.type);
  const payload = payloadOf(type, records, events, from);
  const status = itemAt(RUN_STATUSES, row.status);
  const error_message = hasFailed(status) ? loggedError(row.error_message, events) : row.error_message;
  if (error_message !== row.error_message) from.error_message = `log record (${EXCEPTION_EVENT})`;
  const { environment, release, agent_version, repository } =
    row.context === null ? NO_CONTEXT : parseContext(row.context);
  // Below the topmost span of a resource, its attributes give nothing.
  const unset = Object.entries({ environment, release, agent_version, repository }).filter(
    ([, value]) => value === null,
  );
  for (const [name] of unset) Reflect.deleteProperty(from, name);
  const sent = records.find(({ scores }) => scores !== null)?.scores ?? [];
  const scores = new Map([...sent, ...logged].map((score) => [score.id, score]));
  if (scores.size > sent.length)
    from.scores = [
      ...(from.scores === undefined ? [] : [from.scores]),
      `log record (${EVALUATION_EVENT})`,
    ].join(', ');
  // Attributes with these names remain in the metadata.
  for (const name of ['provider', 'session_id', 'user_id', 'tags'])
    if (metadata[name] !== undefined) from[name] ??= name;
  const call = storedCall(row.call_details);
  noteLater(from, { ...row, call });
  return {
    span_id: row.span_id,
    parent_span_id: row.parent_span_id,
    depth,
    type,
    name: row.name,
    status,
    error_message,
    started_at: formatTime(row.started_at),
    ended_at: row.ended_at === null ? null : formatTime(row.ended_at),
    duration_ms: row.duration_ms,
    model: row.model,
    provider: metadata.provider ?? null,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    total_tokens: row.total_tokens,
    ...serializeUsage({ ...row, call }),
    cost_usd: row.cost_usd === null ? null : moneyToNumber(row.cost_usd),
    ...duplicateFields(row.same_as),
    session_id: metadata.session_id ?? null,
    user_id: metadata.user_id ?? null,
    tags: metadata.tags ?? null,
    environment,
    release,
    agent_version,
    repository,
    ...payload,
    scores: [...scores.values()].map(({ name, value, label, comment, error_type }) => ({
      name,
      value,
      label,
      comment,
      error_type,
    })),
    agent_hint:
      row.agent_source === null || row.agent_name === null
        ? null
        : { source: itemAt(AGENT_SOURCES, row.agent_source), name: row.agent_name },
    run_kind: row.run_kind === null ? null : itemAt(RUN_KINDS, row.run_kind),
    from,
    unread: unreadAttributes(metadata),
  };
}

/**
 * Builds the span's payload; missing parts come from log records.
 *
 * @param from receives the sources
 */
function payloadOf(
  type: SpanType,
  records: readonly SpanRecord[],
  events: readonly LoggedEvent[],
  from: Record<string, string>,
) {
  const own = {
    input_data: records.find(({ input_data }) => input_data !== null)?.input_data ?? null,
    output_data: records.find(({ output_data }) => output_data !== null)?.output_data ?? null,
  };
  if (events.length === 0) return own;
  const { input, output } = loggedPayload(type, events);
  const source = `log records (${[...new Set(events.map(({ name }) => name))].join(', ')})`;
  if (own.input_data === null && input !== null) from.input_data = source;
  if (own.output_data === null && output !== null) from.output_data = source;
  return { input_data: own.input_data ?? input, output_data: own.output_data ?? output };
}

function ended({ status, error_message: error }: Grounds): Grounds {
  return {
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error_message: error }),
  };
}

function firstOf<Value>(objects: readonly Readonly<Record<string, Value>>[]): Record<string, Value> {
  return Object.fromEntries(objects.toReversed().flatMap((object) => Object.entries(object)));
}
