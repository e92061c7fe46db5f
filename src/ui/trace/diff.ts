import { diffArrays } from 'diff';
import type { RunSpan } from './span.js';
import type { TreeNode } from './tree.js';

/** In what two spans that stand for each other differ. Of payloads the length and the beginning of the input are compared. */
type Difference = 'name' | 'status' | 'model' | 'input' | 'output';

/** How long the payloads of a span are as JSON, in bytes; null where it brought none. */
export interface PayloadSizes {
  readonly input: number | null;
  readonly output: number | null;
}

/** A span of both runs, or of one. */
export interface DiffRow {
  readonly a: TreeNode | undefined;
  readonly b: TreeNode | undefined;
  /** Position of the row of the parent; -1 at the top. */
  readonly parent: number;
  readonly depth: number;
  /** Empty where it is in one run only. */
  readonly differences: readonly Difference[];
  /** Rows below it that differ, or are in one run only. */
  readonly changedBelow: number;
}

export interface RunDiff {
  /** In the order of the trees, parents before children; each span of both runs once. */
  readonly rows: readonly DiffRow[];
  /** Position of the first row from which the runs go different ways; undefined where they are alike. */
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

/** Siblings that differ in more than so many places are aligned by a cheaper rule: the n-th of a name is the n-th. */
const MOST_EDITS = 400;
const NO_SIZES: PayloadSizes = { input: null, output: null };

/** Whether a row says that the runs differ there. */
export function isChanged({ a, b, differences }: Pick<DiffRow, 'a' | 'b' | 'differences'>): boolean {
  return a === undefined || b === undefined || differences.length > 0;
}

/**
 * Lays two runs side by side: from the top down, children of spans that stand for each other are aligned in their order by type
 * and name. The work is bounded by the number of spans.
 *
 * @param a the nodes of `buildTree`
 * @param sizes of payloads, by the id of the span
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

/** What goes into a span, or that it is there, makes runs differ; what comes out of it follows from what is below it, if anything is. */
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

/** Pairs siblings in their order. Where one of a type was replaced by one of the same type, these are a pair, too. */
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

/** Positions of siblings that stand for each other, rising on both sides. */
function matches(a: readonly TreeNode[], b: readonly TreeNode[]): readonly (readonly [number, number])[] {
  const keysA = a.map(({ span }) => keyOf(span));
  const keysB = b.map(({ span }) => keyOf(span));
  const parts = diffArrays(keysA, keysB, { maxEditLength: MOST_EDITS });
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

/** The n-th of a name on one side goes with the n-th on the other, as far as their order allows: the longest rising sequence. */
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
  /** Of each length, the pair that ends lowest; and before each pair the one that it follows. */
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
