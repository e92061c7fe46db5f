import type { TreeNode } from './tree.js';

/** Consecutive siblings that repeat the same steps, shown as one row until opened. */
export interface Repeat {
  /** Index of the first span; identifies the group. */
  readonly first: number;
  /** Indexes of all spans. */
  readonly members: readonly number[];
  /** Spans per round; 1 if each is like the one before. */
  readonly steps: number;
  /** Number of rounds. */
  readonly rounds: number;
  /** Whether every round had the same input; for several steps, at least one of them in every round. */
  readonly isSame: boolean;
  /** Usage of spans whose input occurred before; null if there are none. */
  readonly again: Usage | null;
  readonly all: Usage;
  readonly failed: number;
  /** When the last span ended, in milliseconds; null if one still runs. */
  readonly end: number | null;
}

/** Usage of some spans including children. */
export interface Usage {
  readonly count: number;
  readonly cost: number | null;
  readonly tokens: number | null;
  /** Sum of the durations of ended spans, in milliseconds. */
  readonly ms: number;
}

/** Fewer repeats are easier to read as rows. */
const MINIMUM = 3;
/** Longer loops are not detected. */
const MAX_STEPS = 4;

/**
 * Finds repeats among consecutive siblings: at least three with the same name, type, model and subtree
 * shape; or at least three rounds of several steps of which one had the same input each time. Rounds with
 * changing input are normal agent work and stay as they are.
 *
 * @returns by index of the first span
 */
export function findRepeats(nodes: readonly TreeNode[]): ReadonlyMap<number, Repeat> {
  const shapes = shapesOf(nodes);
  const found = new Map<number, Repeat>();
  const collect = (siblings: readonly number[]): void => {
    for (let from = 0; from < siblings.length;) {
      const { steps, rounds } = roundsFrom(siblings, from, nodes, shapes);
      if (rounds >= MINIMUM) {
        const repeat = repeatOf(nodes, siblings.slice(from, from + steps * rounds), steps);
        found.set(repeat.first, repeat);
      }
      // Shorter sequences are skipped span by span, because the second may start a loop.
      from += rounds >= MINIMUM ? steps * rounds : 1;
    }
  };
  collect(nodes.filter(({ parent }) => parent < 0).map(({ index }) => index));
  for (const { children } of nodes) if (children.length >= MINIMUM) collect(children);
  return found;
}

/** The number of repetitions from a sibling on, with as few steps per round as possible. */
function roundsFrom(
  siblings: readonly number[],
  from: number,
  nodes: readonly TreeNode[],
  shapes: readonly number[],
): { readonly steps: number; readonly rounds: number } {
  const at = (place: number): number => siblings[place] ?? -1;
  const isAlike = (place: number, steps: number): boolean =>
    place < siblings.length && shapes[at(place)] === shapes[at(place - steps)];
  for (let steps = 1; steps <= MAX_STEPS && from + steps * MINIMUM <= siblings.length; steps += 1) {
    let rounds = 1;
    /** Steps with the same input in every round so far. */
    let same = stepsOf(steps).filter((turn) => inputAt(nodes, at(from + turn)) !== undefined);
    for (;;) {
      const next = from + steps * rounds;
      if (!stepsOf(steps).every((turn) => isAlike(next + turn, steps))) break;
      const left = same.filter((turn) => inputAt(nodes, at(next + turn)) === inputAt(nodes, at(from + turn)));
      if (steps > 1 && left.length === 0) break;
      same = left;
      rounds += 1;
    }
    if (rounds >= MINIMUM) return { steps, rounds };
  }
  return { steps: 1, rounds: 1 };
}

const STEPS: readonly (readonly number[])[] = Array.from({ length: MAX_STEPS + 1 }, (_, steps) =>
  Array.from({ length: steps }, (_unused, turn) => turn),
);

/** `[0, 1, …]` */
function stepsOf(steps: number): readonly number[] {
  return STEPS[steps] ?? [];
}

/** A number per node; equal numbers mean equal subtree shapes. */
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

function repeatOf(nodes: readonly TreeNode[], members: readonly number[], steps: number): Repeat {
  const all = members.flatMap((at) => nodes[at] ?? []);
  const inputs = stepsOf(steps).map(
    (turn) => new Set(all.filter((_, at) => at % steps === turn).map(inputOf)),
  );
  return {
    first: members[0] ?? -1,
    members,
    steps,
    rounds: members.length / steps,
    isSame: inputs.some((given) => given.size === 1 && !given.has(undefined)),
    again: againOf(all, steps),
    all: doneBy(all),
    failed: all.filter(
      ({ span, failedBelow }) => failedBelow > 0 || span.status === 'failed' || span.status === 'timed_out',
    ).length,
    end: all.reduce<number | null>(
      (last, { span }) => (last === null || span.end === null ? null : Math.max(last, span.end)),
      0,
    ),
  };
}

function inputAt(nodes: readonly TreeNode[], index: number): string | undefined {
  const node = nodes[index];
  return node && inputOf(node);
}

/**
 * Identifies an input by length and start; inputs that differ only later are rare.
 *
 * @returns undefined without input
 */
function inputOf({ span: { preview, inputBytes } }: TreeNode): string | undefined {
  return preview === '' ? undefined : `${String(inputBytes)} ${preview}`;
}

function againOf(all: readonly TreeNode[], steps: number): Usage | null {
  const seen = new Set<string>();
  const again = all.filter((node, at) => {
    const input = inputOf(node);
    if (input === undefined) return false;
    // Input of another step does not count.
    const key = `${String(at % steps)} ${input}`;
    const isAgain = seen.has(key);
    seen.add(key);
    return isAgain;
  });
  return again.length === 0 ? null : doneBy(again);
}

function doneBy(some: readonly TreeNode[]): Usage {
  return {
    count: some.length,
    cost: sumOf(some.map(({ cost }) => cost)),
    tokens: sumOf(some.map(({ tokens }) => tokens)),
    ms: some.reduce((sum, { span }) => sum + Math.max(0, (span.end ?? span.start) - span.start), 0),
  };
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}
