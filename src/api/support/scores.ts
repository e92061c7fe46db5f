import { Type, type TSchema } from 'typebox';
import type { JsonObject } from '../../signal/attributes.js';
import { EVALUATION_EVENT, scoreIn, SCORE_SOURCES } from '../../signal/score.js';
import { formatTime } from '../../signal/time.js';
import { MOST_SCORE_NAMES, type ScoreOfRun } from '../../storage/contracts/scores.js';
import { MOST_SCORES, type StoredScore } from '../../storage/contracts/runs.js';
import { count, jsonObject, nullable, time, uuid } from './fields.js';

/** The API representation. */
export function serializeScore(score: StoredScore) {
  return {
    id: score.id,
    span_id: score.span_id,
    name: score.name,
    value: score.value,
    label: score.label,
    comment: score.comment,
    error_type: score.error_type,
    source: score.source,
    response_id: score.response_id,
    session_id: score.session_id,
    metadata: score.metadata,
    at: formatTime(score.at),
  };
}

const scoreSchema = Type.Object(
  {
    id: uuid(),
    span_id: nullable(uuid('The judged span. Null for the whole run.')),
    name: Type.String({ description: 'Name of the evaluation.' }),
    value: nullable(Type.Number()),
    label: nullable(Type.String({ description: 'The result as a word, such as `pass`.' })),
    comment: nullable(Type.String({ description: 'Explanation of the result, up to 8192 characters.' })),
    error_type: nullable(Type.String({ description: 'Type of the error if the evaluation failed.' })),
    source: Type.Enum(SCORE_SOURCES, {
      description: '`otlp`: an event, a log record or a span. The others: `POST /scores`.',
    }),
    response_id: nullable(
      Type.String({ description: 'Id of the judged response, as its provider gave it.' }),
    ),
    session_id: nullable(Type.String({ description: 'Session that the sender named.' })),
    metadata: nullable(jsonObject('As sent.')),
    at: time('Time of the evaluation.'),
  } satisfies Record<keyof ReturnType<typeof serializeScore>, TSchema>,
  { title: 'Score' },
);

export const runScores = Type.Array(scoreSchema, {
  description: `Scores of the run and its spans by time: the newest ${MOST_SCORES}.`,
});
export const sessionScores = Type.Array(scoreSchema, {
  description: `Scores that name the session but none of its runs, by time: the newest ${MOST_SCORES}.`,
});
export const spanScores = Type.Array(scoreSchema, {
  description: `Scores of the span by time, among the newest ${MOST_SCORES} of its run.`,
});

/** The fields of statistics of scores. */
export const scoreTotals = {
  scores: count('Number of scores.'),
  values: count('Number of scores with a value.'),
  mean: nullable(Type.Number({ description: 'Of the values, to 12 digits; null without values.' })),
  min: nullable(Type.Number()),
  max: nullable(Type.Number()),
};

/** Scores of a run in a list, by name. */
export const listedScores = Type.Array(
  Type.Object(
    {
      name: Type.String(),
      scores: Type.Integer({ minimum: 1, description: 'Number of scores of this name.' }),
      mean: nullable(Type.Number({ description: 'Mean of their values; null without values.' })),
      label: nullable(Type.String({ description: 'The latest label.' })),
    },
    { title: 'ListedScore' },
  ),
  {
    description: `With \`scores\`: scores of the run, its spans and their responses by name, at most ${MOST_SCORE_NAMES} names.`,
  },
);

export function serializeListedScore({ name, scores, mean, label }: ScoreOfRun) {
  return { name, scores, mean, label };
}

interface ScoreText {
  readonly name: string;
  readonly value: number | null;
  readonly label: string | null;
}

/** A score, or the mean of several, in words: `tone 0.75 polite`, `tone 0.6 (12)`. */
export function scoreText({ name, value, label }: ScoreText, count = 1): string {
  const figure = value === null ? null : Number(value.toPrecision(4));
  return [name, figure, label, count > 1 ? `(${count})` : null].filter((word) => word !== null).join(' ');
}

/** The score that a log record reports, in words with its comment; undefined for other records. */
export function loggedScoreText(record: {
  readonly event_name?: string | null;
  readonly attributes: JsonObject;
  readonly trace_id: string | null;
  readonly span_id: string | null;
}): string | undefined {
  if (record.event_name !== EVALUATION_EVENT) return undefined;
  const score = scoreIn(record.attributes, { ...record, at: 0 });
  if (score === null) return undefined;
  const { comment, error_type } = score;
  const more = [comment, error_type === null ? null : `error ${error_type}`].filter((part) => part !== null);
  return [`score ${scoreText(score)}`, ...more].join(': ');
}
