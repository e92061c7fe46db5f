import { Type, type Static } from 'typebox';
import { count, jsonObject, nullable, time, uuid } from '../../api/support/fields.js';
import type { FieldError } from '../../component/http.js';
import { invariant } from '../../signal/checked.js';
import { isUuid, uuidOfDigits } from '../../signal/ids.js';
import { serializeJson } from '../../signal/json.js';
import type { LogRecord } from '../../signal/log-record.js';
import { MAX_NAME } from '../../signal/names.js';
import { MAX_IDENTITY } from '../../signal/run-context.js';
import {
  MAX_COMMENT,
  SCORE_ID,
  SCORE_SOURCES,
  isVerdict,
  loggedScore,
  scoreId,
  scoreRecord,
  truthOf,
} from '../../signal/score.js';
import { MICROS_PER_DAY } from '../../signal/time-units.js';
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
    trace_id: Type.Optional(
      nullable(
        Type.String({ format: 'trace-id', description: 'The run: a UUID, or an id of OpenTelemetry.' }),
      ),
    ),
    span_id: Type.Optional(
      nullable(
        Type.String({
          format: 'span-id',
          description: 'The span, in the same forms; null for the whole run. Needs `trace_id`.',
        }),
      ),
    ),
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

/**
 * The rules that the schema cannot express.
 *
 * @param isPublic whether anyone may have the key: it cannot decide whether a run succeeded
 */
export function brokenRules(
  scores: readonly NewScore[],
  isPublic: boolean,
  receivedAt: Micros,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  scores.forEach((score, index) => {
    const { trace_id, span_id, session_id, response_id, value, label, comment, metadata, at } = score;
    const broken = (field: string, message: string): void => {
      errors.push({ field: `/scores/${index}${field}`, message });
    };
    if (typeof span_id === 'string' && typeof trace_id !== 'string')
      broken('/trace_id', 'is required with span_id');
    else if ((trace_id ?? session_id ?? response_id ?? null) === null)
      broken('/trace_id', 'is required without session_id and response_id');
    if ((value ?? label ?? null) === null && (comment ?? '').trim() === '')
      broken('/value', 'is required without label and comment');
    if (isVerdict(score.name)) {
      const [ofValue, ofLabel] = [truthOf(value ?? undefined), truthOf(label ?? undefined)];
      if (typeof value === 'number' && ofValue === null) broken('/value', VERDICT_RULE);
      else if (typeof label === 'string' && (ofValue ?? ofLabel) === null) broken('/label', VERDICT_RULE);
      else if (ofValue !== null && ofLabel === !ofValue) broken('/label', 'must not contradict value');
    }
    if (isPublic && isVerdict(score.name)) broken('/name', 'must not be success for a key of scope feedback');
    // The newest verdict decides, so one from the future would decide for good.
    if (typeof at === 'string' && (parseTime(at) ?? 0) > receivedAt + MICROS_PER_DAY)
      broken('/at', 'must not be more than a day in the future');
    if (metadata && serializeJson(metadata).length > MAX_COMMENT)
      broken('/metadata', `must not be longer than ${MAX_COMMENT} characters of JSON`);
  });
  return errors;
}

const VERDICT_RULE =
  'must say whether the run succeeded: value 1 or 0, or label success, pass, true, yes, failure, fail, false or no';

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
    scoreRecord(
      {
        ...score,
        ...idsOf(score),
        at: typeof score.at === 'string' ? parseTime(score.at) : undefined,
        ...(publicKeyId === null ? {} : { source: 'user' }),
      },
      index,
      receivedAt,
    ),
  );
  const ids = records.map((record) => {
    const score = invariant(loggedScore(record, receivedAt), 'score of a checked request');
    const id = publicKeyId === null ? score.id : scoreId([publicKeyId, score.id]);
    record.attributes = { ...record.attributes, [SCORE_ID]: id };
    return id;
  });
  return { records, ids };
}

/** The UUIDs of a run and a span, also of ids as OpenTelemetry prints them: as receiver `otlp` derives them. */
function idsOf({ trace_id, span_id }: NewScore): Pick<Required<NewScore>, 'trace_id' | 'span_id'> {
  if (typeof trace_id !== 'string') return { trace_id: null, span_id: null };
  const digits = trace_id.replaceAll('-', '');
  const isSpan = typeof span_id === 'string';
  return {
    trace_id: uuidOfDigits(digits),
    span_id: isSpan && !isUuid(span_id) ? uuidOfDigits(digits.slice(16) + span_id) : (span_id ?? null),
  };
}
