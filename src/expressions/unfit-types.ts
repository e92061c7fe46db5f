import { literalText, type Node } from './syntax-tree.js';

const NUMBERS = ['int', 'uint', 'double'];
/** `no such overload: int / double` */
const BINARY = /^no such overload: (\S+) (\S+) (\S+)$/;

/**
 * Advice for an operator that CEL does not define for its operand types.
 *
 * @param summary CEL's error text
 * @param node the operation
 * @returns text to append; empty if there is no advice
 */
export function typeAdvice(summary: string, node: Node | undefined): string {
  const advice = adviceOf(summary, node);
  return advice === undefined ? '' : `; ${advice}`;
}

function adviceOf(summary: string, node: Node | undefined): string | undefined {
  if (summary.includes('null')) return 'to test whether a field has a value, use has(span.model)';
  if (/^no such overload: !\w/.test(summary)) return '! needs true or false: use a comparison or has()';
  const [, left = '', operator = '', right = ''] = BINARY.exec(summary) ?? [];
  if (operator === 'in')
    return right === 'string' ? 'to test for a substring, use a.contains("b")' : undefined;
  const isOne = (type: string) => left === type || right === type;
  if ([left, right].some((type) => type.startsWith('list')))
    return 'what is in a list, "in" tells: "a" in span.tags';
  if (isOne('google.protobuf.Timestamp')) return 'write a time as timestamp("2026-01-31T12:00:00Z")';
  if (isOne('google.protobuf.Duration')) return 'write a duration as duration("5s")';
  const isNumber = (type: string) => NUMBERS.includes(type);
  if (isNumber(left) && isNumber(right)) return 'convert both to one type with double() or int()';
  if (!(isOne('string') && (isNumber(left) || isNumber(right)))) return undefined;
  return withLiteral(node, operator);
}

/** Of a text and a number. */
function withLiteral(node: Node | undefined, operator: string): string {
  const sides: readonly unknown[] = Array.isArray(node?.args) ? node.args : [];
  const isText = (side: unknown) => literalText(side as Node) !== undefined;
  const isNumber = (side: unknown) => (side as Node).op === 'value' && !isText(side);
  if (operator === '+') return 'string() converts a number to a string';
  if (sides.some(isText)) return 'write numbers without quotes';
  if (sides.some(isNumber)) return 'write strings in quotes';
  return 'string() converts a number to a string, double() a string to a number';
}
