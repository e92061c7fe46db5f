import type { ASTNode } from '@marcbachmann/cel-js';

/** A node of a parsed expression. */
export type Node = ASTNode;

/** A call of a function, or of a method on something. */
export interface Call {
  readonly name: string;
  readonly args: readonly Node[];
  /** Position of the name in the expression. */
  readonly at: number;
}

/** All nodes of a tree, each before those inside it. */
export function* nodesOf(root: Node): Generator<Node> {
  const waiting: unknown[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) waiting.push(...(next as unknown[]).toReversed());
    else if (isNode(next)) {
      yield next;
      waiting.push(next.args);
    }
  }
}

/** The call that a node is. */
export function callOf(node: Node): Call | undefined {
  if (node.op === 'call') return { name: node.args[0], args: node.args[1], at: node.range.start };
  if (node.op !== 'rcall') return undefined;
  const [name, receiver, args] = node.args;
  const at = node.input.indexOf(name, receiver.range.end);
  return { name, args, at };
}

/** The variable and its field, if a node is `span.name`. */
export function fieldAccess(node: Node): { readonly variable: string; readonly field: string } | undefined {
  if (node.op !== '.') return undefined;
  const [object, field] = node.args;
  return object.op === 'id' ? { variable: object.args, field } : undefined;
}

/** The text of a node, if it is a string literal. */
export function literalText(node: Node): string | undefined {
  return node.op === 'value' && typeof node.args === 'string' ? node.args : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
