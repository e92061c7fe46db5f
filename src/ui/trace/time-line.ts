import type { TreeNode } from './tree.js';

/** A segment of the timeline: a time range drawn over a part of the width. */
interface Piece {
  readonly start: number;
  readonly end: number;
  /** Fractions of the width, 0 to 1. */
  readonly from: number;
  readonly to: number;
  /** Whether it is collapsed idle time. */
  readonly isGap: boolean;
}

/** Maps times to positions and back. */
export interface TimeLine {
  readonly pieces: readonly Piece[];
  /** @returns 0 to 1 */
  place(time: number): number;
  time(place: number): number;
}

/** A gap is collapsed if it takes this fraction of the whole; it then takes this fraction of the width. */
const WORTH = 0.08;
const COLLAPSED = 0.025;

/** A timeline without collapsed gaps. */
export function plainTimeLine(start: number, end: number): TimeLine {
  return timeLine([{ start, end: end > start ? end : start + 1, from: 0, to: 1, isGap: false }]);
}

/** A timeline that collapses long gaps in which no leaf span ran. @param now end of running spans */
export function collapsedTimeLine(
  nodes: readonly TreeNode[],
  { start, end }: { readonly start: number; readonly end: number },
  now: number,
): TimeLine {
  const gaps = idleGaps(nodes, start, end, now).filter((gap) => gap.end - gap.start >= (end - start) * WORTH);
  const busy = end - start - gaps.reduce((sum, gap) => sum + gap.end - gap.start, 0);
  // If all leaves are instants, nothing would be left to fill the width.
  if (gaps.length === 0 || busy <= 0) return plainTimeLine(start, end);
  const share = 1 - gaps.length * COLLAPSED;
  const pieces: Piece[] = [];
  let [time, place] = [start, 0];
  const add = (until: number, width: number, isGap: boolean): void => {
    if (until <= time) return;
    pieces.push({ start: time, end: until, from: place, to: place + width, isGap });
    [time, place] = [until, place + width];
  };
  for (const gap of gaps) {
    add(gap.start, ((gap.start - time) / busy) * share, false);
    add(gap.end, COLLAPSED, true);
  }
  add(end, 1 - place, false);
  return timeLine(pieces);
}

/** Gaps in which no leaf span ran, in order. */
function idleGaps(
  nodes: readonly TreeNode[],
  start: number,
  end: number,
  now: number,
): { start: number; end: number }[] {
  const leaves = nodes
    .filter(({ children }) => children.length === 0)
    .map(({ span }) => ({ start: span.start, end: Math.max(span.start, span.end ?? now) }))
    .sort((a, b) => a.start - b.start);
  const gaps: { start: number; end: number }[] = [];
  let until = start;
  for (const leaf of leaves) {
    if (leaf.start > until) gaps.push({ start: until, end: leaf.start });
    until = Math.max(until, leaf.end);
  }
  if (end > until) gaps.push({ start: until, end });
  return gaps;
}

function timeLine(pieces: readonly Piece[]): TimeLine {
  return {
    pieces,
    place: (time) => {
      const piece = pieces.find(({ end }) => time <= end) ?? pieces.at(-1);
      return piece ? between(time, piece.start, piece.end, piece.from, piece.to) : 0;
    },
    time: (place) => {
      const piece = pieces.find(({ to }) => place <= to) ?? pieces.at(-1);
      return piece ? between(place, piece.from, piece.to, piece.start, piece.end) : 0;
    },
  };
}

function between(value: number, low: number, high: number, from: number, to: number): number {
  if (high <= low) return from;
  return from + Math.min(1, Math.max(0, (value - low) / (high - low))) * (to - from);
}
