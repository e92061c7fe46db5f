import { itemAt } from './checked.js';
import type { RunStatus } from './span.js';
import type { Micros } from './time.js';

/**
 * Outcome and duration of a span as a small integer, so that sums of the service map can be kept for each grade. Odd: it failed. Below 2:
 * it has not ended. From {@link FINE_GRADES} on: twice the bucket of its duration, within 1% of each duration in it. In between: the
 * wider buckets of earlier versions. The grade is stored, so the meaning of a number must never change.
 */
export type Grade = number;

/** The grade of a running span, and a placeholder if no span is counted. */
export const NO_GRADE: Grade = 0;

/** The first grade with a fine bucket. Bucket 0 holds durations below 1 us. */
export const FINE_GRADES = 256;
/** Fine buckets per octave, from 1 us in bucket 1: each is 1.9% wider than the previous one. */
export const FINE_PER_OCTAVE = 36;
/** Buckets per octave in grades of earlier versions, from 100 us in bucket 1. */
export const COARSE_PER_OCTAVE = 4;
export const COARSE_MICROS = 100;

/** The last bucket holds everything from 12 days on. */
const LAST = 40 * FINE_PER_OCTAVE + 1;
/** Lower bounds of the buckets; integers, so that every machine compares them alike. */
const BOUNDS = [0, ...Array.from({ length: LAST }, (_, i) => Math.ceil(2 ** (i / FINE_PER_OCTAVE)))];
/** More than any grade. */
export const GRADES = 4096;

/** @param ended_at null while the span is running */
export function gradeOf(status: RunStatus, started_at: Micros, ended_at: Micros | null): Grade {
  return gradeFor(status, ended_at === null ? null : ended_at - started_at);
}

/** @param micros duration; null while the span is running or if its end is unknown */
export function gradeFor(status: RunStatus, micros: number | null): Grade {
  const failed = status === 'failed' || status === 'timed_out' ? 1 : 0;
  return micros === null ? failed : FINE_GRADES + bucketOf(micros) * 2 + failed;
}

/** The duration that stands for a grade, in microseconds: the geometric mean of the bucket's bounds. Null: the spans have not ended. */
export function microsOf(grade: Grade): number | null {
  if (grade < 2) return null;
  if (grade < FINE_GRADES) return COARSE_MICROS * 2 ** ((Math.floor(grade / 2) - 0.5) / COARSE_PER_OCTAVE);
  const bucket = Math.floor((grade - FINE_GRADES) / 2);
  return bucket === 0 ? 0 : 2 ** ((bucket - 0.5) / FINE_PER_OCTAVE);
}

/** The spans of a grade in words, to follow "span"; empty for running spans. */
export function encodeGrade(grade: Grade): string {
  const micros = microsOf(grade);
  const words = [
    ...(micros === null ? [] : [`took about ${Math.round(micros) / 1000} ms`]),
    ...(grade % 2 === 1 ? ['failed'] : []),
  ];
  return words.length === 0 ? '' : ` that ${words.join(' and ')}`;
}

function bucketOf(micros: number): number {
  if (micros < 1) return 0;
  let bucket = Math.min(Math.floor(Math.log2(micros) * FINE_PER_OCTAVE) + 1, LAST);
  while (bucket < LAST && micros >= itemAt(BOUNDS, bucket + 1)) bucket++;
  while (micros < itemAt(BOUNDS, bucket)) bucket--;
  return bucket;
}
