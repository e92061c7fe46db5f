import { narrowed, ofCommits, type OfCommits } from './commit-ranges.js';
import type { Row } from '../files/plain-rows.js';

/** Position of a span and its payload line: the commit, and the line number within the trace in that commit. */
export interface LinePlace {
  readonly seq: number;
  readonly line: number;
}

/** @param row with `seq` and `line` */
export function placeOf({ seq, line }: Row): LinePlace {
  return { seq: Number(seq), line: Number(line) };
}

/** A key that identifies a place within one trace. */
export function placeKey({ seq, line }: LinePlace): string {
  return `${seq}/${line}`;
}

/**
 * The condition for the rows at some places of one trace. Commits with the same lines share a condition, because most have just one
 * line.
 *
 * @param column with the line number
 */
export function onLines(column: 'line' | 'first_line', places: readonly LinePlace[]): OfCommits {
  const linesOf = new Map<number, number[]>();
  for (const { seq, line } of places) addTo(linesOf, seq, line);
  const seqsOf = new Map<string, number[]>();
  for (const [seq, lines] of linesOf) {
    const list = lines.sort((a, b) => a - b).join(', ');
    addTo(seqsOf, list, seq);
  }
  const conditions = [...seqsOf].map(
    ([lines, seqs]) => `(seq IN (${seqs.join(', ')}) AND ${column} IN (${lines}))`,
  );
  return narrowed(ofCommits(linesOf.keys()), `(${conditions.join(' OR ')})`);
}

/** Appends in place: each list may get ten thousand entries. */
function addTo<Key>(lists: Map<Key, number[]>, key: Key, value: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
