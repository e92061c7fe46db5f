import type { JsonObject } from '../../signal/attributes.js';
import { isInFuture } from '../../signal/future.js';
import { EVALUATION_EVENT, scoreIn, SCORE_ATTRIBUTES, type ScoreRecord } from '../../signal/score.js';
import { MAX_SPAN_SCORES, type SpanRecord } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { Evaluation } from './span-events.js';
import type { SpanReading } from './span-reading.js';

interface SentScores {
  /** Attributes of the span, among them those of an evaluation. */
  readonly picked: JsonObject | null;
  readonly evaluations: readonly Evaluation[];
  readonly receivedAt: Micros;
}

const RESULTS = SCORE_ATTRIBUTES.slice(1);

/** The scores that a span reports in its events and attributes; null for none. */
export function scoresOf(
  span: SpanRecord,
  { picked, evaluations, receivedAt }: SentScores,
  reading: SpanReading,
): readonly ScoreRecord[] | null {
  const ended = span.ended_at ?? span.started_at;
  const { trace_id, span_id } = span;
  const ofEvents = evaluations.flatMap(({ attributes, at }) => {
    const isUsable = at !== null && !isInFuture(at, receivedAt);
    return scoreIn(attributes, { trace_id, span_id, at: isUsable ? at : ended }) ?? [];
  });
  // Tracers without events send the event as a span of its own.
  const judged = span.name === EVALUATION_EVENT ? span.parent_span_id : span_id;
  const own = picked && scoreIn(withShared(picked, reading), { trace_id, span_id: judged, at: ended });
  const scores = (own === null ? ofEvents : [own, ...ofEvents]).slice(0, MAX_SPAN_SCORES);
  if (scores.length === 0) return null;
  reading.provenance?.decided(
    'scores',
    own === null
      ? `event ${EVALUATION_EVENT}`
      : ofEvents.length === 0
        ? 'attributes gen_ai.evaluation.*'
        : `attributes gen_ai.evaluation.*, event ${EVALUATION_EVENT}`,
  );
  return scores;
}

/** With the attributes that also belong to the span: an error without a result is that of the evaluation. */
function withShared(picked: JsonObject, reading: SpanReading): JsonObject {
  const shared: JsonObject = { ...picked, 'gen_ai.response.id': reading.value('response_id') };
  if (RESULTS.every((name) => (picked[name] ?? null) === null))
    shared['error.type'] = reading.value('error_type');
  return shared;
}
