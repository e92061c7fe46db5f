import type { HeaderRow } from './rows.js';
import { withOutcome } from './completion.js';
import type { Verdict } from '../../signal/score.js';

/** A verdict about a run or one of its spans, which may arrive later. */
export interface SpanVerdict extends Verdict {
  /** Key of the judged span's id, which counts only if it is the root. Null: the run is judged. */
  readonly span: string | null;
}

/**
 * A header with the first verdict about the run or its root, unless it has a success already.
 *
 * @param root key of the root's id; undefined if there is none yet
 * @returns the header itself if nothing changes
 */
export function judged(
  header: HeaderRow,
  verdicts: readonly SpanVerdict[],
  root: () => string | undefined,
): HeaderRow {
  if (header.success !== null || verdicts.length === 0) return header;
  const key = root();
  const found = verdicts.find(({ span }) => span === null || span === key);
  return found === undefined
    ? header
    : withOutcome(header, found.success, header.outcome ?? found.outcome ?? undefined);
}
