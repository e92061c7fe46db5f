import { literalText, type Node } from './syntax-tree.js';

const NUMBERS = ['int', 'uint', 'double'];
/** `no such overload: int / double` */
const BINARY = /^no such overload: (\S+) (\S+) (\S+)$/;

/**
 * What to do about an operator that CEL does not have for the types beside it.
 *
 * @param summary what CEL says
 * @param node the operation
 * @returns to be written behind that; empty where nothing is known
 */
export function typeAdvice(summary: string, node: Node | undefined): string {
  const advice = adviceOf(summary, node);
  return advice === undefined ? '' : `; ${advice}`;
}

function adviceOf(summary: string, node: Node | undefined): string | undefined {
  if (summary.includes('null')) return 'whether a field has a value, has() tells: has(span.model)';
  if (/^no such overload: !\w/.test(summary))
    return '! wants true or false: compare it with something, or ask has()';
  const [, left = '', operator = '', right = ''] = BINARY.exec(summary) ?? [];
  if (operator === 'in')
    return right === 'string' ? 'whether a text has a part, contains() tells: a.contains("b")' : undefined;
  const isOne = (type: string) => left === type || right === type;
  if ([left, right].some((type) => type.startsWith('list')))
    return 'what is in a list, "in" tells: "a" in span.tags';
  if (isOne('google.protobuf.Timestamp'))
    return 'a point in time is written timestamp("2026-01-31T12:00:00Z")';
  if (isOne('google.protobuf.Duration')) return 'a length of time is written duration("5s")';
  const isNumber = (type: string) => NUMBERS.includes(type);
  if (isNumber(left) && isNumber(right)) return 'make both of one type, by double() or int()';
  if (!(isOne('string') && (isNumber(left) || isNumber(right)))) return undefined;
  return withLiteral(node, operator);
}

/** Of a text and a number. */
function withLiteral(node: Node | undefined, operator: string): string {
  const sides: readonly unknown[] = Array.isArray(node?.args) ? node.args : [];
  const isText = (side: unknown) => literalText(side as Node) !== undefined;
  const isNumber = (side: unknown) => (side as Node).op === 'value' && !isText(side);
  if (operator === '+') return 'string() makes a text of a number';
  if (sides.some(isText)) return 'a number is written without quotes';
  if (sides.some(isNumber)) return 'a text is written in quotes';
  return 'string() makes a text of a number, and double() a number of a text';
}
