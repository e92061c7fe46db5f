import type { JsonObject, JsonValue } from './attributes.js';
import type { LogRecord } from './log-record.js';
import { eventNameOf } from './logged-event.js';
import { hashedUuid, isUuid, uuidV7InOrder } from './ids.js';
import { serializeJson } from './json.js';
import { cutText, storableName } from './names.js';
import type { Origin } from './origin.js';
import { storableIdentity } from './run-context.js';
import type { Micros } from './time.js';

/** Where a score comes from. The position is the stored code of each source: append only. */
export const SCORE_SOURCES = ['otlp', 'api', 'user', 'evaluator'] as const;
type ScoreSource = (typeof SCORE_SOURCES)[number];

/** A judgement of a run, of one of its spans, of a response, or of a session. */
export interface ScoreRecord {
  /** A UUID. A score with the same id replaces this one. */
  readonly id: string;
  /** UUID, lower case. Null: the score belongs to the span whose response has `response_id`, or to a session. */
  readonly trace_id: string | null;
  /** Null for the whole run. */
  readonly span_id: string | null;
  /** The provider's id of the judged response. */
  readonly response_id: string | null;
  readonly name: string;
  readonly value: number | null;
  readonly label: string | null;
  readonly comment: string | null;
  /** Why the evaluation failed. */
  readonly error_type: string | null;
  readonly source: ScoreSource;
  readonly at: Micros;
  /** The session that it judges, if neither a run nor a response. */
  readonly session_id: string | null;
  /** What its sender added. */
  readonly metadata: JsonObject | null;
}

/** The event of OpenTelemetry's GenAI conventions that reports a score. */
export const EVALUATION_EVENT = 'gen_ai.evaluation.result';

export const EVALUATION_NAME = 'gen_ai.evaluation.name';
export const EVALUATION_VALUE = 'gen_ai.evaluation.score.value';
export const EVALUATION_LABEL = 'gen_ai.evaluation.score.label';
const EVALUATION_COMMENT = 'gen_ai.evaluation.explanation';
const ERROR = 'error.type';
const RESPONSE = 'gen_ai.response.id';
/** Attributes of scores that arrived at `POST /api/v1/scores`, so that they pass all pipelines as log records. */
export const SCORE_ID = 'jackdaw.score.id';
const SCORE_SOURCE = 'jackdaw.score.source';
const SCORE_METADATA = 'jackdaw.score.metadata';

/** The attributes of a score: its name and its results. Its `error.type` and `gen_ai.response.id` have other uses, too. */
export const SCORE_ATTRIBUTES: readonly string[] = [
  EVALUATION_NAME,
  EVALUATION_VALUE,
  EVALUATION_LABEL,
  EVALUATION_COMMENT,
];

/** Maximum number of characters of a comment, and of metadata as JSON. A run may have many. */
export const MAX_COMMENT = 8192;
const MAX_DIGITS = 64;
const SESSION = 'session.id';
const CONVERSATION = 'gen_ai.conversation.id';
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** What a score judges, and when. */
interface Judged {
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly at: Micros;
}

/**
 * The score in the attributes of an evaluation. Long texts are cut.
 *
 * @param isTimed whether a repeat of the same score has the same time
 * @returns null without a name, a result, or something that is judged
 */
export function scoreIn(attributes: JsonObject, judged: Judged, isTimed = true): ScoreRecord | null {
  const name = nameIn(attributes[EVALUATION_NAME]);
  const response_id = nameIn(attributes[RESPONSE]);
  const session_id = sessionIn(attributes);
  const { trace_id, span_id, at } = judged;
  if (name === null || (trace_id ?? response_id ?? session_id) === null) return null;
  const sent = attributes[EVALUATION_VALUE];
  const value = numberIn(sent);
  const label =
    nameIn(attributes[EVALUATION_LABEL]) ?? (value === null && !isNoNumber(sent) ? nameIn(sent) : null);
  const comment = commentIn(attributes[EVALUATION_COMMENT]);
  const error_type = nameIn(attributes[ERROR]);
  if (value === null && label === null && comment === null && error_type === null) return null;
  // Without the comment: the event of a span and a log record may report the same score with and without it.
  const identity = [trace_id, span_id, response_id, name, value, label, isTimed ? at : null];
  const isOfSession = trace_id === null && response_id === null;
  const id = idIn(attributes) ?? scoreId(isOfSession ? [...identity, session_id] : identity);
  const source = sourceIn(attributes[SCORE_SOURCE]);
  const metadata = metadataIn(attributes[SCORE_METADATA]);
  return {
    id,
    ...judged,
    response_id,
    session_id,
    name,
    value,
    label,
    comment,
    error_type,
    source,
    metadata,
  };
}

/** The texts of a score as attributes, in which rules about keys find them. */
export function attributesOf(score: ScoreRecord): JsonObject {
  const { name, label, comment, error_type, response_id, session_id, metadata } = score;
  return {
    [SESSION]: session_id,
    [SCORE_METADATA]: metadata,
    [EVALUATION_NAME]: name,
    [EVALUATION_LABEL]: label,
    [EVALUATION_COMMENT]: comment,
    [ERROR]: error_type,
    [RESPONSE]: response_id,
  };
}

/** The inverse of {@link attributesOf}. */
export function scoreTexts(
  attributes: JsonObject,
): Omit<ScoreRecord, 'id' | 'trace_id' | 'span_id' | 'value' | 'source' | 'at'> {
  return {
    session_id: sessionIn(attributes),
    metadata: metadataIn(attributes[SCORE_METADATA]),
    name: nameIn(attributes[EVALUATION_NAME]) ?? '',
    label: nameIn(attributes[EVALUATION_LABEL]),
    comment: commentIn(attributes[EVALUATION_COMMENT]),
    error_type: nameIn(attributes[ERROR]),
    response_id: nameIn(attributes[RESPONSE]),
  };
}

/** The score that a log record reports; null for any other record. @param receivedAt used as the time of records without one */
export function loggedScore(record: LogRecord, receivedAt: Micros): ScoreRecord | null {
  if (eventNameOf(record) !== EVALUATION_EVENT) return null;
  const { trace_id, span_id, timestamp: at, observed_at } = record;
  const isTimed = observed_at !== null || at !== receivedAt;
  return scoreIn(record.attributes, { trace_id, span_id, at }, isTimed);
}

/** A score to send. Absent and null fields are left out. */
export interface NewScore extends Readonly<
  Partial<Pick<ScoreRecord, 'id' | 'trace_id' | 'span_id' | 'response_id' | 'session_id' | 'error_type'>>
> {
  readonly name: string;
  readonly value?: number | null;
  readonly label?: string | null;
  readonly comment?: string | null;
  /** Default: `api`. */
  readonly source?: ScoreSource;
  readonly metadata?: JsonObject | null;
  /** Default: the time of arrival. */
  readonly at?: Micros | undefined;
}

/** Scores have no resource. */
const ORIGIN: Origin = { resource: {}, scope: { name: 'jackdaw.scores' }, serviceName: '' };
const INFO = 9;

/**
 * A score as a log record of the event `gen_ai.evaluation.result`, so that pipelines and stores treat it like those of OpenTelemetry:
 * the inverse of {@link loggedScore}.
 *
 * @param index of the score in its batch, for the order of ids
 */
export function scoreRecord(score: NewScore, index: number, receivedAt: Micros): LogRecord {
  const { at } = score;
  return {
    id: uuidV7InOrder(receivedAt / 1000, index),
    timestamp: at ?? receivedAt,
    observed_at: at === undefined ? null : receivedAt,
    severity: 'info',
    severity_number: INFO,
    severity_text: '',
    body: null,
    trace_id: score.trace_id?.toLowerCase() ?? null,
    span_id: score.span_id?.toLowerCase() ?? null,
    flags: 0,
    event_name: EVALUATION_EVENT,
    attributes: withoutNulls({
      [SCORE_ID]: score.id,
      [EVALUATION_NAME]: score.name,
      [EVALUATION_VALUE]: score.value,
      [EVALUATION_LABEL]: score.label,
      [EVALUATION_COMMENT]: score.comment,
      [ERROR]: score.error_type,
      [RESPONSE]: score.response_id,
      [SESSION]: score.session_id,
      [SCORE_SOURCE]: score.source ?? 'api',
      [SCORE_METADATA]: score.metadata,
    }),
    origin: ORIGIN,
  };
}

function withoutNulls(values: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(set) as JsonObject;
}

/** What a score says about the success of a run. */
export interface Verdict {
  readonly success: boolean;
  readonly outcome: string | null;
}

const YES: ReadonlySet<string> = new Set(['true', 'yes', 'pass', 'passed', 'success', '1']);
const NO: ReadonlySet<string> = new Set(['false', 'no', 'fail', 'failed', 'failure', '0']);

/** Labels that are verdicts, in lower case. */
export const VERDICT_LABELS: readonly string[] = [...YES, ...NO];

/** Whether a value means success; null if it does not say. */
export function truthOf(value: JsonValue | undefined): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : null;
  if (typeof value !== 'string') return null;
  const word = value.trim().toLowerCase();
  return YES.has(word) ? true : NO.has(word) ? false : null;
}

/** Whether a score of this name decides about the success of a run. */
export function isVerdict(name: string): boolean {
  return storableName(name).toLowerCase() === 'success';
}

/** The verdict of a score; null if the score does not decide about a run. */
export function verdictIn({
  name,
  value,
  label,
}: Pick<ScoreRecord, 'name' | 'value' | 'label'>): Verdict | null {
  if (!isVerdict(name)) return null;
  const success = truthOf(value ?? undefined) ?? truthOf(label ?? undefined);
  return success === null ? null : { success, outcome: label };
}

function nameIn(value: JsonValue | undefined): string | null {
  const isText = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';
  return isText ? storableName(String(value)) || null : null;
}

function commentIn(value: JsonValue | undefined): string | null {
  if (typeof value !== 'string' || value.trim() === '') return null;
  return cutText(value.toWellFormed(), MAX_COMMENT);
}

function idIn({ [SCORE_ID]: id }: JsonObject): string | null {
  return typeof id === 'string' && isUuid(id) ? id.toLowerCase() : null;
}

function sessionIn({ [SESSION]: session, [CONVERSATION]: conversation }: JsonObject): string | null {
  const id = nameIn(session) ?? nameIn(conversation);
  return id === null ? null : storableIdentity(id) || null;
}

function sourceIn(value: JsonValue | undefined): ScoreSource {
  return SCORE_SOURCES.find((source) => source === value) ?? 'otlp';
}

function metadataIn(value: JsonValue | undefined): JsonObject | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return serializeJson(value).length <= MAX_COMMENT ? value : null;
}

function numberIn(value: JsonValue | undefined): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  const isDecimal = typeof value === 'string' && value.length <= MAX_DIGITS && DECIMAL.test(value.trim());
  const number = isDecimal || typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Whether a value is a double without a finite value; in JSON these are texts. */
function isNoNumber(value: JsonValue | undefined): boolean {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity';
}

/** A UUID that follows from the parts of an identity. */
export function scoreId(identity: readonly (string | number | null)[]): string {
  return hashedUuid(JSON.stringify(identity));
}
