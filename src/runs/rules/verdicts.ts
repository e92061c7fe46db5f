import type { Verdict } from '../../signal/score.js';
import { REMOTE_VERDICT } from './derived.js';
import type { HeaderSpan } from './header-of-spans.js';
import type { HeaderRow } from './rows.js';

/** A verdict about a run or one of its spans, which may arrive later. */
export interface SpanVerdict extends Verdict {
  /** Key of the judged span's id. Null: the run is judged. */
  readonly span: string | null;
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
  return success !== null && (derived & REMOTE_VERDICT) === 0;
}

/**
 * A header with the first final verdict, unless it has one, else with the first provisional one, unless it has a success already.
 *
 * @param weightOfSpan by the key of a span's id
 * @returns the header itself if nothing changes
 */
export function judged(
  header: HeaderRow,
  verdicts: readonly SpanVerdict[],
  weightOfSpan: (span: string) => Weight,
): HeaderRow {
  if (verdicts.length === 0 || isJudged(header)) return header;
  const isProvisional = (header.derived & REMOTE_VERDICT) !== 0;
  const withWeight = (weight: Weight): SpanVerdict | undefined =>
    verdicts.find(({ span }) => (span === null ? 'final' : weightOfSpan(span)) === weight);
  const final = withWeight('final');
  const found = final ?? (header.success === null ? withWeight('provisional') : undefined);
  if (found === undefined) return header;
  const { success } = found;
  const isReplaced = header.success !== null && header.success !== success;
  // An outcome of the run itself counts before that of a score.
  const [first, second] = isProvisional ? [found.outcome, header.outcome] : [header.outcome, found.outcome];
  return {
    ...header,
    success,
    outcome: first ?? (isReplaced ? null : second),
    derived: final === undefined ? header.derived | REMOTE_VERDICT : header.derived & ~REMOTE_VERDICT,
  };
}
