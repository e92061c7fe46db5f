import { diffArrays } from 'diff';
import type { RunSpan } from './span.js';
import type { TreeNode } from './tree.js';

/** How two matched spans differ. Payloads are compared by length and start of the input. */
type Difference = 'name' | 'status' | 'model' | 'input' | 'output';

/** Payload sizes as JSON in bytes; null without a payload. */
export interface PayloadSizes {
  readonly input: number | null;
  readonly output: number | null;
}

/** A pair of spans, or a span of one run. */
export interface DiffRow {
  readonly a: TreeNode | undefined;
  readonly b: TreeNode | undefined;
  /** Index of the parent row; -1 at the top. */
  readonly parent: number;
  readonly depth: number;
  /** Empty for spans of one run. */
  readonly differences: readonly Difference[];
  /** Changed or unmatched rows below. */
  readonly changedBelow: number;
}

export interface RunDiff {
  /** In tree order, parents before children; each span of both runs once. */
  readonly rows: readonly DiffRow[];
  /** Index of the first row at which the runs diverge; undefined if they do not. */
  readonly first: number | undefined;
  readonly counts: {
    readonly same: number;
    readonly changed: number;
    readonly onlyA: number;
    readonly onlyB: number;
  };
}

type Building = { -readonly [Key in keyof DiffRow]: DiffRow[Key] };
type Pair = Pick<DiffRow, 'a' | 'b'>;

/** Beyond this number of edits, siblings are matched by name and occurrence. */
const MAX_EDITS = 400;
const NO_SIZES: PayloadSizes = { input: null, output: null };

/** Whether a row differs. */
export function isChanged({ a, b, differences }: Pick<DiffRow, 'a' | 'b' | 'differences'>): boolean {
  return a === undefined || b === undefined || differences.length > 0;
}

/**
 * Aligns two runs top-down: children of matched spans are matched in order by type and name. The work is
 * linear in the number of spans.
 *
 * @param a nodes of `buildTree`
 * @param sizes payload sizes by span id
 */
export function diffRuns(
  a: readonly TreeNode[],
  b: readonly TreeNode[],
  sizes: ReadonlyMap<string, PayloadSizes>,
): RunDiff {
  const roots = (nodes: readonly TreeNode[]): TreeNode[] => nodes.filter(({ parent }) => parent < 0);
  const childrenOf = (nodes: readonly TreeNode[], node: TreeNode | undefined): TreeNode[] =>
    (node?.children ?? []).flatMap((at) => nodes[at] ?? []);
  const rows: Building[] = [];
  const waiting: { pair: Pair; parent: number }[] = [];
  const add = (pairs: readonly Pair[], parent: number): void => {
    for (let at = pairs.length - 1; at >= 0; at -= 1) {
      const pair = pairs[at];
      if (pair) waiting.push({ pair, parent });
    }
  };
  add(alignSiblings(roots(a), roots(b)), -1);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { pair, parent } = next;
    const above = rows[parent];
    const at = rows.length;
    rows.push({
      ...pair,
      parent,
      depth: above === undefined ? 0 : above.depth + 1,
      differences: pair.a && pair.b ? differencesOf(pair.a.span, pair.b.span, sizes) : [],
      changedBelow: 0,
    });
    add(alignSiblings(childrenOf(a, pair.a), childrenOf(b, pair.b)), at);
  }
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at];
    const above = row === undefined ? undefined : rows[row.parent];
    if (row && above) above.changedBelow += row.changedBelow + (isChanged(row) ? 1 : 0);
  }
  const first = rows.findIndex(isDivergence);
  return { rows, first: first < 0 ? undefined : first, counts: countsOf(rows) };
}

/**
 * A different input, or a missing span, makes runs diverge; different output usually follows from the
 * children.
 */
function isDivergence(row: DiffRow): boolean {
  if (!isChanged(row)) return false;
  const follows = row.changedBelow > 0;
  return (
    !row.a || !row.b || row.differences.some((one) => !follows || (one !== 'output' && one !== 'status'))
  );
}

function countsOf(rows: readonly DiffRow[]): RunDiff['counts'] {
  const counts = { same: 0, changed: 0, onlyA: 0, onlyB: 0 };
  for (const row of rows)
    if (row.b === undefined) counts.onlyA += 1;
    else if (row.a === undefined) counts.onlyB += 1;
    else if (isChanged(row)) counts.changed += 1;
    else counts.same += 1;
  return counts;
}

function differencesOf(
  a: RunSpan,
  b: RunSpan,
  sizes: ReadonlyMap<string, PayloadSizes>,
): readonly Difference[] {
  const [sizesA, sizesB] = [sizes.get(a.id) ?? NO_SIZES, sizes.get(b.id) ?? NO_SIZES];
  const differences: Difference[] = [];
  if (keyOf(a) !== keyOf(b)) differences.push('name');
  if (a.status !== b.status) differences.push('status');
  if (a.model !== b.model) differences.push('model');
  if (sizesA.input !== sizesB.input || a.preview !== b.preview) differences.push('input');
  if (sizesA.output !== sizesB.output) differences.push('output');
  return differences;
}

function keyOf({ type, name }: RunSpan): string {
  return `${type} ${name}`;
}

/** Pairs siblings in order. A span replaced by one of the same type is a pair, too. */
function alignSiblings(a: readonly TreeNode[], b: readonly TreeNode[]): readonly Pair[] {
  if (a.length === 0 || b.length === 0)
    return [...a.map((node) => ({ a: node, b: undefined })), ...b.map((node) => ({ a: undefined, b: node }))];
  const pairs: Pair[] = [];
  let [atA, atB] = [0, 0];
  for (const [nextA, nextB] of [...matches(a, b), [a.length, b.length] as const]) {
    const [onlyA, onlyB] = [a.slice(atA, nextA), b.slice(atB, nextB)];
    const [oneA, oneB] = [onlyA[0], onlyB[0]];
    const isReplaced = onlyA.length === 1 && onlyB.length === 1 && oneA?.span.type === oneB?.span.type;
    if (isReplaced) pairs.push({ a: oneA, b: oneB });
    else {
      pairs.push(...onlyA.map((node) => ({ a: node, b: undefined })));
      pairs.push(...onlyB.map((node) => ({ a: undefined, b: node })));
    }
    const [matchA, matchB] = [a[nextA], b[nextB]];
    if (matchA && matchB) pairs.push({ a: matchA, b: matchB });
    [atA, atB] = [nextA + 1, nextB + 1];
  }
  return pairs;
}

/** Indexes of matching siblings, ascending on both sides. */
function matches(a: readonly TreeNode[], b: readonly TreeNode[]): readonly (readonly [number, number])[] {
  const keysA = a.map(({ span }) => keyOf(span));
  const keysB = b.map(({ span }) => keyOf(span));
  const parts = diffArrays(keysA, keysB, { maxEditLength: MAX_EDITS });
  if (parts === undefined) return matchesByCount(keysA, keysB);
  const found: (readonly [number, number])[] = [];
  let [atA, atB] = [0, 0];
  for (const { added, removed, count } of parts) {
    if (!added && !removed) for (let at = 0; at < count; at += 1) found.push([atA + at, atB + at]);
    if (!added) atA += count;
    if (!removed) atB += count;
  }
  return found;
}

/**
 * Matches the n-th sibling of a name with the n-th on the other side, as far as the order allows (longest
 * increasing subsequence).
 */
function matchesByCount(
  keysA: readonly string[],
  keysB: readonly string[],
): readonly (readonly [number, number])[] {
  const places = new Map<string, number[]>();
  keysB.forEach((key, at) => {
    const known = places.get(key);
    if (known) known.push(at);
    else places.set(key, [at]);
  });
  const used = new Map<string, number>();
  const pairs = keysA.flatMap((key, at): (readonly [number, number])[] => {
    const nth = used.get(key) ?? 0;
    used.set(key, nth + 1);
    const place = places.get(key)?.[nth];
    return place === undefined ? [] : [[at, place]];
  });
  return longestRising(pairs);
}

function longestRising(
  pairs: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  /** For each length the pair with the lowest end, and the predecessor of each pair. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  pairs.forEach(([, place], at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1]);
    ends[low] = at;
  });
  const rising: (readonly [number, number])[] = [];
  for (let at = ends.at(-1); at !== undefined; at = before[at]) {
    const pair = pairs[at];
    if (pair) rising.push(pair);
  }
  return rising.reverse();
}
