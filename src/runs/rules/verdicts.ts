import type { Verdict } from '../../signal/score.js';
import type { Micros } from '../../signal/time.js';
import { withoutScore } from './completion.js';
import { REMOTE_VERDICT, SCORED, SCORED_OUTCOME } from './derived.js';
import type { HeaderSpan } from './header-of-spans.js';
import type { HeaderRow } from './rows.js';

/** A verdict about a run or one of its spans, which may arrive later. */
export interface SpanVerdict extends Verdict {
  /** Of verdicts with the same id the last to arrive counts. Null in messages of older versions. */
  readonly id: string | null;
  /** Key of the judged span's id. Null: the run is judged. */
  readonly span: string | null;
  /** Of two verdicts the later one counts. */
  readonly at: Micros;
}

/** What a verdict about a span says about its run: `final` of the root, `provisional` of a span with a parent in another process. */
export type Weight = 'final' | 'provisional' | 'none';

/** @param top the topmost span of its run; undefined if unknown */
export function weightOf(span: HeaderSpan | undefined, top: HeaderSpan | undefined): Weight {
  if (span === undefined) return 'none';
  if (span.parent_span_id === null) return span.span_id === top?.span_id ? 'final' : 'none';
  return span.parent_is_remote === true ? 'provisional' : 'none';
}

/** Whether a run has a success that no score changes. */
export function isJudged({ success, derived }: HeaderRow): boolean {
  return success !== null && (derived & (REMOTE_VERDICT | SCORED)) === 0;
}

/**
 * A header with the newest final verdict, else with the newest provisional one, unless it has a success of its own.
 *
 * @param verdicts in order of arrival, which decides if their times are equal
 * @param weightOfSpan by the key of a span's id
 * @returns the header itself if nothing changes
 */
export function judged(
  header: HeaderRow,
  verdicts: readonly SpanVerdict[],
  weightOfSpan: (span: string) => Weight,
): HeaderRow {
  if (verdicts.length === 0 || isJudged(header)) return header;
  const own = withoutScore(header);
  const current = withoutReplaced(verdicts);
  const isProvisional = (own.derived & REMOTE_VERDICT) !== 0;
  const newest = (weight: Weight): SpanVerdict | undefined =>
    current
      .filter(({ span }) => (span === null ? 'final' : weightOfSpan(span)) === weight)
      .reduce<SpanVerdict | undefined>((last, one) => (last && last.at > one.at ? last : one), undefined);
  const final = newest('final');
  const found = final ?? (own.success === null ? newest('provisional') : undefined);
  if (found === undefined) return header;
  const { success } = found;
  const isReplaced = own.success !== null && own.success !== success;
  // An outcome of the run itself counts before that of a score.
  const [first, second] = isProvisional ? [found.outcome, own.outcome] : [own.outcome, found.outcome];
  const outcome = first ?? (isReplaced ? null : second);
  const isScores = outcome !== null && outcome === found.outcome && (isProvisional || own.outcome === null);
  const derived =
    (final === undefined ? own.derived | REMOTE_VERDICT : own.derived & ~REMOTE_VERDICT) |
    SCORED |
    (isScores ? SCORED_OUTCOME : 0);
  const isSame = success === header.success && outcome === header.outcome && derived === header.derived;
  return isSame ? header : { ...header, success, outcome, derived };
}

function withoutReplaced(verdicts: readonly SpanVerdict[]): readonly SpanVerdict[] {
  const last = new Map(verdicts.map(({ id }, index) => [id, index]));
  return verdicts.filter(({ id }, index) => id === null || last.get(id) === index);
}
