import { formatCount, formatMoney } from '../../format/number.js';
import { formatDuration } from '../../format/duration.js';
import type { TreeNode } from '../../trace/tree.js';

export type FigureName = 'duration' | 'tokens' | 'cost';

const FORMATS: Readonly<Record<FigureName, (value: number) => string>> = {
  duration: formatDuration,
  tokens: formatCount,
  cost: formatMoney,
};

export function formatFigure(name: FigureName, value: number): string {
  return FORMATS[name](value);
}

/** A value of a span including its children; null if unknown or without a span. */
export function figureOf(name: FigureName, node: TreeNode | undefined): number | null {
  if (node === undefined) return null;
  if (name === 'duration')
    return node.span.end === null ? null : Math.max(0, node.span.end - node.span.start);
  return node[name];
}

/** A signed change, such as `+1.2 s`, `−$0.03`, `±0`. */
export function formatDelta(name: FigureName, delta: number): string {
  if (delta === 0) return '±0';
  return `${delta > 0 ? '+' : '−'}${formatFigure(name, Math.abs(delta))}`;
}

/** A relative change such as `+12%`; undefined if the base is 0. */
export function formatShare(before: number, after: number): string | undefined {
  if (before === 0) return undefined;
  const percent = Math.round(((after - before) / before) * 100);
  if (Math.abs(percent) >= 1000) return `×${formatCount(after / before)}`;
  return percent === 0 ? undefined : `${percent > 0 ? '+' : '−'}${String(Math.abs(percent))}%`;
}
