import { BUCKETS_PER_OCTAVE, SHORTEST_MICROS, type Grade } from '../../../signal/span-grade.js';
import type { MapFigures } from '../../service-map.js';

/** The share of spans that are at least as fast. */
const P95 = 0.95;

/** How many spans have a grade. */
export interface GradeCount {
  readonly grade: Grade;
  readonly spans: number;
}

/** What the grades of spans say of a node or an edge: which failed, and within a tenth how long 95 of 100 took at most. */
export function figuresOf(counts: readonly GradeCount[]): MapFigures {
  const failed = counts.filter(({ grade }) => grade % 2 === 1);
  return { error_count: failed.reduce((sum, { spans }) => sum + spans, 0), p95_ms: p95Of(counts) };
}

function p95Of(counts: readonly GradeCount[]): number | null {
  const buckets = new Map<number, number>();
  for (const { grade, spans } of counts) {
    const bucket = Math.floor(grade / 2);
    if (bucket > 0) buckets.set(bucket, (buckets.get(bucket) ?? 0) + spans);
  }
  const all = [...buckets.values()].reduce((sum, spans) => sum + spans, 0);
  const nth = Math.ceil(P95 * all);
  let before = 0;
  for (const [bucket, spans] of [...buckets].sort(([a], [b]) => a - b)) {
    if (before + spans < nth) {
      before += spans;
      continue;
    }
    // Where in its bucket the span lies is not known: as if they were spread evenly.
    const octaves = (bucket - 1 + (nth - 0.5 - before) / spans) / BUCKETS_PER_OCTAVE;
    return Math.round((SHORTEST_MICROS / 1000) * 2 ** octaves * 1000) / 1000;
  }
  return null;
}
