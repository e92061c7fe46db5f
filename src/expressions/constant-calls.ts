import { callOf, literalText, nodesOf, type Node } from './syntax-tree.js';

/** Functions that not every text suits, and what one has to look like. */
const FORMS: Readonly<Record<string, string>> = {
  timestamp: 'write a point in time as in timestamp("2026-01-31T12:00:00Z")',
  duration: 'write a length of time as in duration("90s") or duration("1h30m")',
  int: 'write a whole number',
  double: 'write a number',
};

/** A call that fails whatever comes. */
interface ImpossibleCall {
  readonly problem: string;
  readonly at: number;
}

/**
 * Finds a text that was written out and can never be what it is to become: `timestamp("yesterday")`.
 *
 * @param run evaluates a part of the expression
 */
export function impossibleCall(root: Node, run: (source: string) => unknown): ImpossibleCall | undefined {
  for (const node of nodesOf(root)) {
    const { name = '', args } = (node.op === 'call' ? callOf(node) : undefined) ?? { args: [] };
    const form = FORMS[name];
    const [argument, ...more] = args;
    if (form === undefined || argument === undefined || more.length > 0) continue;
    const text = literalText(argument);
    if (text === undefined) continue;
    try {
      run(node.input.slice(node.range.start, node.range.end));
    } catch {
      return { problem: `${name}() cannot read ${JSON.stringify(text)}; ${form}`, at: argument.range.start };
    }
  }
  return undefined;
}
