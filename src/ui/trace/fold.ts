import type { TreeNode } from './tree.js';

/** Siblings in a row that do the same, shown as one row until it is opened. */
export interface Repeat {
  /** Position of the first one; it names the group. */
  readonly first: number;
  /** Positions of all. */
  readonly members: readonly number[];
  /** All were given the same. */
  readonly sameInput: boolean;
  /** Those that were given what one before them was given already; null where there are none. */
  readonly again: Again | null;
  readonly cost: number | null;
  readonly tokens: number | null;
  readonly failed: number;
}

/** What was done once more with the same input. */
export interface Again {
  readonly count: number;
  readonly cost: number | null;
  /** How long they took, one by one, in milliseconds; of those that have ended. */
  readonly ms: number;
}

/** Two of a kind are read more quickly than a folded row. */
const LEAST = 3;

/**
 * Finds repeats: at least three siblings in a row with one name, type and model and, below them, the same shape.
 *
 * @returns by the position of the first one
 */
export function findRepeats(nodes: readonly TreeNode[]): ReadonlyMap<number, Repeat> {
  const shapes = shapesOf(nodes);
  const found = new Map<number, Repeat>();
  const collect = (siblings: readonly number[]): void => {
    for (let from = 0; from < siblings.length;) {
      const shape = shapes[siblings[from] ?? -1];
      let until = from + 1;
      while (until < siblings.length && shapes[siblings[until] ?? -1] === shape) until += 1;
      if (until - from >= LEAST) {
        const repeat = repeatOf(nodes, siblings.slice(from, until));
        found.set(repeat.first, repeat);
      }
      from = until;
    }
  };
  collect(nodes.filter(({ parent }) => parent < 0).map(({ index }) => index));
  for (const { children } of nodes) if (children.length >= LEAST) collect(children);
  return found;
}

/** A number for each node; those with the same look the same, with everything below them. */
function shapesOf(nodes: readonly TreeNode[]): readonly number[] {
  const numbers = new Map<string, number>();
  const shapes = new Array<number>(nodes.length).fill(0);
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at];
    if (!node) continue;
    const { type, name, model } = node.span;
    const below = node.children.map((child) => shapes[child]).join(',');
    const text = `${type}\0${name}\0${model ?? ''}\0${below}`;
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    shapes[at] = number;
  }
  return shapes;
}

function repeatOf(nodes: readonly TreeNode[], members: readonly number[]): Repeat {
  const all = members.flatMap((at) => nodes[at] ?? []);
  const inputs = new Set(all.map(inputOf));
  return {
    first: members[0] ?? -1,
    members,
    sameInput: inputs.size === 1 && !inputs.has(undefined),
    again: againOf(all),
    cost: sumOf(all.map(({ cost }) => cost)),
    tokens: sumOf(all.map(({ tokens }) => tokens)),
    failed: all.filter(
      ({ span, failedBelow }) => failedBelow > 0 || span.status === 'failed' || span.status === 'timed_out',
    ).length,
  };
}

/** By its length and how it begins: inputs that differ later only are rare. @returns undefined where there is none */
function inputOf({ span: { preview, inputBytes } }: TreeNode): string | undefined {
  return preview === '' ? undefined : `${String(inputBytes)} ${preview}`;
}

function againOf(all: readonly TreeNode[]): Again | null {
  const seen = new Set<string>();
  const again = all.filter((node) => {
    const input = inputOf(node);
    if (input === undefined) return false;
    const isAgain = seen.has(input);
    seen.add(input);
    return isAgain;
  });
  if (again.length === 0) return null;
  return {
    count: again.length,
    cost: sumOf(again.map(({ cost }) => cost)),
    ms: again.reduce((sum, { span }) => sum + Math.max(0, (span.end ?? span.start) - span.start), 0),
  };
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}
