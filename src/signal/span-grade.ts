import { itemAt } from './checked.js';
import type { RunStatus } from './span.js';
import type { Micros } from './time.js';

/**
 * How a span went, in one byte, so that sums of the service map can be kept for each grade: twice the bucket of its duration, plus 1 if it
 * failed. Bucket 0: it has not ended. The grade is stored: what a number means must never change.
 */
export type Grade = number;

/** The grade of a running span, and a placeholder if no span is counted. */
export const NO_GRADE: Grade = 0;

/** Buckets of an octave: each is a fifth wider than the one before. */
export const BUCKETS_PER_OCTAVE = 4;
/** Where the second bucket begins, divided by the width of one; the first one holds everything shorter. */
export const SHORTEST_MICROS = 100;
/** The last bucket has everything from 70 hours on. */
const BUCKETS = 126;
/** The bucket of a duration is the number of these bounds that lie at or below it: whole numbers, which every machine compares alike. */
const BOUNDS = [
  0,
  ...Array.from({ length: BUCKETS - 1 }, (_, i) =>
    Math.round(SHORTEST_MICROS * 2 ** ((i + 1) / BUCKETS_PER_OCTAVE)),
  ),
];

/** @param ended_at null while it is running */
export function gradeOf(status: RunStatus, started_at: Micros, ended_at: Micros | null): Grade {
  return gradeFor(status, ended_at === null ? null : ended_at - started_at);
}

/** @param micros duration; null while it is running or if the end is unknown */
export function gradeFor(status: RunStatus, micros: number | null): Grade {
  const failed = status === 'failed' || status === 'timed_out' ? 1 : 0;
  return micros === null ? failed : bucketOf(micros) * 2 + failed;
}

/** Which spans have a grade, in words behind "span"; empty for those that go on. */
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
