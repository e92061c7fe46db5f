import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from './attributes.js';
import type { LogRecord } from './log-record.js';
import { eventNameOf } from './logged-event.js';
import { cutText, storableName } from './names.js';
import type { Micros } from './time.js';

/** Where a score comes from. The position is the stored code of each source: append only. */
export const SCORE_SOURCES = ['otlp', 'api', 'user', 'evaluator'] as const;
type ScoreSource = (typeof SCORE_SOURCES)[number];

/** A judgement of a run, of one of its spans, or of a response. */
export interface ScoreRecord {
  /** A UUID. A score with the same id replaces this one. */
  readonly id: string;
  /** UUID, lower case. Null: the score belongs to the span whose response has `response_id`. */
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
}

/** The event of OpenTelemetry's GenAI conventions that reports a score. */
export const EVALUATION_EVENT = 'gen_ai.evaluation.result';

export const EVALUATION_NAME = 'gen_ai.evaluation.name';
export const EVALUATION_VALUE = 'gen_ai.evaluation.score.value';
export const EVALUATION_LABEL = 'gen_ai.evaluation.score.label';
const EXPLANATION = 'gen_ai.evaluation.explanation';
const ERROR = 'error.type';
const RESPONSE = 'gen_ai.response.id';

/** The attributes of a score: its name and its results. Its `error.type` and `gen_ai.response.id` have other uses, too. */
export const SCORE_ATTRIBUTES: readonly string[] = [
  EVALUATION_NAME,
  EVALUATION_VALUE,
  EVALUATION_LABEL,
  EXPLANATION,
];

/** Maximum number of characters of a comment. A run may have many. */
const MAX_COMMENT = 8192;
const MAX_DIGITS = 64;
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
  if (name === null || (judged.trace_id === null && response_id === null)) return null;
  const sent = attributes[EVALUATION_VALUE];
  const value = numberIn(sent);
  const label =
    nameIn(attributes[EVALUATION_LABEL]) ?? (value === null && !isNoNumber(sent) ? nameIn(sent) : null);
  const comment = commentIn(attributes[EXPLANATION]);
  const error_type = nameIn(attributes[ERROR]);
  if (value === null && label === null && comment === null && error_type === null) return null;
  const { trace_id, span_id, at } = judged;
  // Without the comment: the event of a span and a log record may report the same score with and without it.
  const identity = [trace_id, span_id, response_id, name, value, label, isTimed ? at : null];
  const id = idOf(JSON.stringify(identity));
  return { id, ...judged, response_id, name, value, label, comment, error_type, source: 'otlp' };
}

/** The texts of a score as attributes, in which rules about keys find them. */
export function attributesOf({ name, label, comment, error_type, response_id }: ScoreRecord): JsonObject {
  return {
    [EVALUATION_NAME]: name,
    [EVALUATION_LABEL]: label,
    [EXPLANATION]: comment,
    [ERROR]: error_type,
    [RESPONSE]: response_id,
  };
}

/** The inverse of {@link attributesOf}. */
export function scoreTexts(
  attributes: JsonObject,
): Pick<ScoreRecord, 'name' | 'label' | 'comment' | 'error_type' | 'response_id'> {
  return {
    name: nameIn(attributes[EVALUATION_NAME]) ?? '',
    label: nameIn(attributes[EVALUATION_LABEL]),
    comment: commentIn(attributes[EXPLANATION]),
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

/** What a score says about the success of a run. */
export interface Verdict {
  readonly success: boolean;
  readonly outcome: string | null;
}

const YES: ReadonlySet<string> = new Set(['true', 'yes', 'pass', 'passed', 'success', '1']);
const NO: ReadonlySet<string> = new Set(['false', 'no', 'fail', 'failed', 'failure', '0']);

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
  return name.toLowerCase() === 'success';
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

const UUID_HEX = 32;

function idOf(identity: string): string {
  const hex = createHash('sha256').update(identity).digest('hex').slice(0, UUID_HEX);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
