import { itemAt } from './checked.js';
import type { RunStatus } from './span.js';
import type { Micros } from './time.js';

/**
 * Outcome and duration of a span in one byte, so that sums of the service map can be kept for each grade: twice the bucket of its
 * duration, plus 1 if it failed. Bucket 0: it has not ended. The grade is stored, so the meaning of a number must never change.
 */
export type Grade = number;

/** The grade of a running span, and a placeholder if no span is counted. */
export const NO_GRADE: Grade = 0;

/** Buckets of an octave: each is about a fifth wider than the previous one. */
export const BUCKETS_PER_OCTAVE = 4;
/** Lower bound of the second bucket, except for the width of one; the first bucket holds everything shorter. */
export const SHORTEST_MICROS = 100;
/** The last bucket holds everything from 70 hours on. */
const BUCKETS = 126;
/**
 * The bucket of a duration is the number of these bounds at or below it. They are integers, so that every machine compares them
 * alike.
 */
const BOUNDS = [
  0,
  ...Array.from({ length: BUCKETS - 1 }, (_, i) =>
    Math.round(SHORTEST_MICROS * 2 ** ((i + 1) / BUCKETS_PER_OCTAVE)),
  ),
];

/** @param ended_at null while the span is running */
export function gradeOf(status: RunStatus, started_at: Micros, ended_at: Micros | null): Grade {
  return gradeFor(status, ended_at === null ? null : ended_at - started_at);
}

/** @param micros duration; null while the span is running or if its end is unknown */
export function gradeFor(status: RunStatus, micros: number | null): Grade {
  const failed = status === 'failed' || status === 'timed_out' ? 1 : 0;
  return micros === null ? failed : bucketOf(micros) * 2 + failed;
}

/** The spans of a grade in words, to follow "span"; empty for running spans. */
export function encodeGrade(grade: Grade): string {
  const bucket = Math.floor(grade / 2);
  const bound = BOUNDS[bucket];
  const took = bound === undefined ? 'took very long' : `took less than ${bound / 1000} ms`;
  const words = [...(bucket === 0 ? [] : [took]), ...(grade % 2 === 1 ? ['failed'] : [])];
  return words.length === 0 ? '' : ` that ${words.join(' and ')}`;
}

function bucketOf(micros: number): number {
  if (micros < itemAt(BOUNDS, 1)) return 1;
  let bucket = Math.floor(Math.log2(micros / SHORTEST_MICROS) * BUCKETS_PER_OCTAVE) + 1;
  bucket = Math.min(Math.max(bucket, 1), BUCKETS);
  while (bucket < BUCKETS && micros >= itemAt(BOUNDS, bucket)) bucket++;
  while (bucket > 1 && micros < itemAt(BOUNDS, bucket - 1)) bucket--;
  return bucket;
}
