import { useMemo, useState } from 'react';
import { criticalPath, type CriticalPart } from './critical-path.js';
import { findRepeats, type Repeat } from './repeats.js';
import {
  closedBelow,
  findSpans,
  revealed,
  visibleRows,
  type PayloadTexts,
  type Row,
  type Shown,
} from './rows.js';
import type { RunSpan } from './span.js';
import { plainTimeLine, collapsedTimeLine, type TimeLine } from './time-line.js';
import { buildTree, extentOf, type TreeNode } from './tree.js';

export interface TraceView {
  readonly nodes: readonly TreeNode[];
  readonly rows: readonly Row[];
  readonly line: TimeLine;
  readonly extent: { readonly start: number; readonly end: number };
  /** By index; empty unless shown. */
  readonly critical: ReadonlyMap<number, readonly CriticalPart[]>;
  readonly hits: readonly number[];
  readonly now: number;
  indexOf(spanId: string): number | undefined;
  /** The group of repeats that a span belongs to, if repeats are grouped. */
  repeatOf(index: number): Repeat | undefined;
  /** Opens or closes the row of a span or group. */
  toggle(row: Row, isOpen: boolean): void;
  /** Expands this many levels; 0 for all. */
  showLevels(levels: number): void;
  /** Opens whatever hides a span. */
  reveal(index: number): void;
}

interface Options {
  readonly fold: boolean;
  readonly squeeze: boolean;
  readonly path: boolean;
  readonly q: string;
  /** Id of the span that fills the width. */
  readonly zoom: string;
}

const NO_REPEATS: ReadonlyMap<number, Repeat> = new Map();
const NONE: ReadonlySet<number> = new Set();

/**
 * The visible part of a run and its display options.
 *
 * @param now in milliseconds if spans are running; otherwise a constant
 * @param payloads searched, too, if they are loaded
 */
export function useTraceView(
  spans: readonly RunSpan[],
  now: number,
  { fold, squeeze, path, q, zoom }: Options,
  payloads: PayloadTexts | undefined,
): TraceView {
  const nodes = useMemo(() => buildTree(spans), [spans]);
  const indices = useMemo(() => new Map(nodes.map(({ span, index }) => [span.id, index])), [nodes]);
  const repeats = useMemo(() => (fold ? findRepeats(nodes) : NO_REPEATS), [nodes, fold]);
  const [open, setOpen] = useState<Pick<Shown, 'closed' | 'openRepeats'>>({
    closed: NONE,
    openRepeats: NONE,
  });
  const shown = useMemo(() => ({ ...open, repeats }), [open, repeats]);
  const rows = useMemo(() => visibleRows(nodes, shown), [nodes, shown]);
  const extent = useMemo(() => extentOf(nodes, now), [nodes, now]);
  const line = useMemo(() => {
    const zoomed = nodes[indices.get(zoom) ?? -1]?.span;
    if (zoomed) return plainTimeLine(zoomed.start, zoomed.end ?? now);
    return squeeze ? collapsedTimeLine(nodes, extent, now) : plainTimeLine(extent.start, extent.end);
  }, [nodes, indices, extent, now, squeeze, zoom]);
  const critical = useMemo(() => {
    const byIndex = new Map<number, CriticalPart[]>();
    if (!path) return byIndex;
    for (const part of criticalPath(nodes, now)) {
      const parts = byIndex.get(part.index);
      if (parts) parts.push(part);
      else byIndex.set(part.index, [part]);
    }
    return byIndex;
  }, [nodes, now, path]);
  const hits = useMemo(() => findSpans(nodes, q, payloads), [nodes, q, payloads]);
  return {
    nodes,
    rows,
    line,
    extent,
    critical,
    hits,
    now,
    indexOf: (spanId) => indices.get(spanId),
    repeatOf: (index) => [...repeats.values()].find(({ members }) => members.includes(index)),
    toggle: (row, isOpen) => {
      const set = new Set(row.kind === 'repeat' ? open.openRepeats : open.closed);
      // Groups are closed by default, spans are open.
      if (isOpen === (row.kind === 'repeat')) set.add(row.node.index);
      else set.delete(row.node.index);
      setOpen(row.kind === 'repeat' ? { ...open, openRepeats: set } : { ...open, closed: set });
    },
    showLevels: (levels) => {
      setOpen({ closed: levels === 0 ? NONE : closedBelow(nodes, levels), openRepeats: NONE });
    },
    reveal: (index) => {
      setOpen(revealed(nodes, index, shown));
    },
  };
}
