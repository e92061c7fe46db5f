import { suggestion } from '../config/nearest-name.js';
import { RECORD_TYPES, type RecordVariable } from './scope/record-types.js';
import { fieldAccess, literalText, nodesOf, type Node } from './syntax-tree.js';

/** A comparison that can never be true. */
interface ImpossibleWord {
  readonly problem: string;
  readonly at: number;
}

/** Finds fields of few words that are compared with a word which they never have: `log.severity == "DEBUG"`. */
export function impossibleWord(root: Node): ImpossibleWord | undefined {
  for (const node of nodesOf(root)) {
    if (node.op !== '==' && node.op !== '!=' && node.op !== 'in') continue;
    const [left, right] = node.args as readonly [Node, Node];
    const found = wrongWord(left, right) ?? wrongWord(right, left);
    if (found !== undefined) return found;
  }
  return undefined;
}

function wrongWord(subject: Node, object: Node): ImpossibleWord | undefined {
  const access = fieldAccess(subject);
  if (access === undefined || !(access.variable in RECORD_TYPES)) return undefined;
  const { name, fields } = RECORD_TYPES[access.variable as RecordVariable];
  const words = fields[access.field]?.words;
  if (words === undefined) return undefined;
  const texts = object.op === 'list' ? object.args : [object];
  for (const node of texts) {
    const text = literalText(node);
    if (text !== undefined && !words.includes(text))
      return {
        problem: `the ${access.field} of a ${name.toLowerCase()} is never "${text}"${suggestion(text, words)}`,
        at: node.range.start,
      };
  }
  return undefined;
}
