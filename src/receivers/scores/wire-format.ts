import { Type, type Static } from 'typebox';
import { count, jsonObject, nullable, time, uuid } from '../../api/support/fields.js';
import type { FieldError } from '../../component/http.js';
import type { JsonObject } from '../../signal/attributes.js';
import { invariant } from '../../signal/checked.js';
import { uuidV7InOrder } from '../../signal/ids.js';
import { serializeJson } from '../../signal/json.js';
import type { LogRecord } from '../../signal/log-record.js';
import { MAX_NAME } from '../../signal/names.js';
import type { Origin } from '../../signal/origin.js';
import { MAX_IDENTITY } from '../../signal/run-context.js';
import {
  EVALUATION_COMMENT,
  EVALUATION_EVENT,
  EVALUATION_LABEL,
  EVALUATION_NAME,
  EVALUATION_VALUE,
  MAX_COMMENT,
  RESPONSE,
  SCORE_ID,
  SCORE_METADATA,
  SCORE_SOURCE,
  SCORE_SOURCES,
  SESSION,
  isVerdict,
  loggedScore,
  scoreId,
} from '../../signal/score.js';
import { parseTime, type Micros } from '../../signal/time.js';

const MAX_SCORES = 100;
const SOURCES = SCORE_SOURCES.filter((source) => source !== 'otlp');

const name = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, format: 'not-blank', description });

const ScoreSchema = Type.Object(
  {
    id: Type.Optional(
      uuid(
        'A score with the same id replaces this one. Default: derived from the other fields without `comment` and `metadata`.',
      ),
    ),
    trace_id: Type.Optional(nullable(uuid('The run.'))),
    span_id: Type.Optional(nullable(uuid('The span; null for the whole run. Needs `trace_id`.'))),
    session_id: Type.Optional(
      nullable(name(MAX_IDENTITY, 'The session, if the score is not of one of its runs.')),
    ),
    response_id: Type.Optional(
      nullable(
        name(MAX_NAME, 'Id of the model’s response, which finds its span if `trace_id` is not known.'),
      ),
    ),
    name: name(MAX_NAME, 'Name of the score. `success` decides whether the run succeeded.'),
    value: Type.Optional(nullable(Type.Number())),
    label: Type.Optional(nullable(name(MAX_NAME, 'The result as a word, such as `pass`.'))),
    comment: Type.Optional(nullable(Type.String({ maxLength: MAX_COMMENT }))),
    source: Type.Optional(
      Type.Enum(SOURCES, { description: 'A program (`api`), an end user or an evaluator. Default: `api`.' }),
    ),
    metadata: Type.Optional(nullable(jsonObject(`At most ${MAX_COMMENT} characters of JSON.`))),
    at: Type.Optional(nullable(time('Default: the time of arrival.'))),
  },
  { title: 'NewScore', additionalProperties: false },
);
type NewScore = Static<typeof ScoreSchema>;

export const ScoresSchema = Type.Object(
  { scores: Type.Array(ScoreSchema, { maxItems: MAX_SCORES }) },
  { title: 'NewScores', additionalProperties: false },
);

export const ScoresReplySchema = Type.Object(
  {
    accepted: count('Accepted scores, including repeats.'),
    rejected: count(),
    ids: Type.Array(uuid(), { description: 'The id of each score, in the order of the request.' }),
    errors: Type.Array(Type.Object({ id: uuid(), error: Type.String() }, { title: 'RejectedScore' }), {
      description: 'One entry for each score that a processor or the store rejected.',
    }),
  },
  { title: 'ScoresReply' },
);

/** Scores have no resource. */
const ORIGIN: Origin = { resource: {}, scope: { name: 'jackdaw.scores' }, serviceName: '' };
const INFO = 9;

/**
 * The rules that the schema cannot express.
 *
 * @param isPublic whether anyone may have the key: it cannot decide whether a run succeeded
 */
export function brokenRules(scores: readonly NewScore[], isPublic: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  scores.forEach((score, index) => {
    const { trace_id, span_id, session_id, response_id, value, label, comment, metadata } = score;
    const broken = (field: string, message: string): void => {
      errors.push({ field: `/scores/${index}${field}`, message });
    };
    if ((trace_id ?? session_id ?? response_id ?? null) === null)
      broken('/trace_id', 'is required without session_id and response_id');
    if (typeof span_id === 'string' && typeof trace_id !== 'string')
      broken('/trace_id', 'is required with span_id');
    if ((value ?? label ?? null) === null && (comment ?? '').trim() === '')
      broken('/value', 'is required without label and comment');
    if (isPublic && isVerdict(score.name)) broken('/name', 'must not be success for a key of scope feedback');
    if (metadata && serializeJson(metadata).length > MAX_COMMENT)
      broken('/metadata', `must not be longer than ${MAX_COMMENT} characters of JSON`);
  });
  return errors;
}

/**
 * Scores as log records of the event `gen_ai.evaluation.result`, so that pipelines treat them like those of OpenTelemetry.
 *
 * @param publicKeyId of a key that anyone may have: its scores come from users and replace only its own
 * @returns also the id of each score
 */
export function scoreRecords(
  scores: readonly NewScore[],
  receivedAt: Micros,
  publicKeyId: string | null,
): { readonly records: readonly LogRecord[]; readonly ids: readonly string[] } {
  const records = scores.map((score, index) =>
    toRecord(publicKeyId === null ? score : { ...score, source: 'user' }, index, receivedAt),
  );
  const ids = records.map((record) => {
    const score = invariant(loggedScore(record, receivedAt), 'score of a checked request');
    const id = publicKeyId === null ? score.id : scoreId([publicKeyId, score.id]);
    record.attributes = { ...record.attributes, [SCORE_ID]: id };
    return id;
  });
  return { records, ids };
}

function toRecord(score: NewScore, index: number, receivedAt: Micros): LogRecord {
  const at = typeof score.at === 'string' ? parseTime(score.at) : undefined;
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
