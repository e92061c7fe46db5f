import { suggestion } from '../config/nearest-name.js';
import { RECORD_TYPES, type RecordVariable } from './scope/record-types.js';
import { fieldAccess, literalText, nodesOf, type Node } from './syntax-tree.js';

/** A comparison that can never be true. */
interface ImpossibleWord {
  readonly problem: string;
  readonly at: number;
}

/** A literal compared with an enum field: `log.severity == "debug"`. */
interface ComparedText {
  readonly text: string;
  /** Its position in the expression, including its quotes. */
  readonly at: number;
  /** The same without them. */
  readonly textAt: number;
  /** `severity of a log` */
  readonly what: string;
  readonly words: readonly string[];
}

/** Finds enum fields compared with a word that they never have: `log.severity == "DEBG"`. */
export function impossibleWord(root: Node): ImpossibleWord | undefined {
  for (const { text, at, what, words } of comparedTexts(root))
    if (!words.includes(text.toLowerCase()))
      return { problem: `the ${what} is never "${text}"${suggestion(text, words)}`, at };
  return undefined;
}

/**
 * Literals that equal an enum word except for case, since OpenTelemetry writes severities so: `log.severity == "DEBUG"`.
 *
 * @returns the position of each, and the proper word, which has the same length
 */
export function wordsInAnotherCase(root: Node): { readonly at: number; readonly word: string }[] {
  return [...comparedTexts(root)].flatMap(({ text, textAt, words }) => {
    const word = text.toLowerCase();
    return word !== text && words.includes(word) ? [{ at: textAt, word }] : [];
  });
}

function* comparedTexts(root: Node): Generator<ComparedText> {
  for (const node of nodesOf(root)) {
    if (node.op !== '==' && node.op !== '!=' && node.op !== 'in') continue;
    const [left, right] = node.args as readonly [Node, Node];
    yield* textsFor(left, right);
    yield* textsFor(right, left);
  }
}

function* textsFor(subject: Node, object: Node): Generator<ComparedText> {
  const access = fieldAccess(subject);
  if (access === undefined || !(access.variable in RECORD_TYPES)) return;
  const { name, fields } = RECORD_TYPES[access.variable as RecordVariable];
  const words = fields[access.field]?.words;
  if (words === undefined) return;
  for (const node of object.op === 'list' ? object.args : [object]) {
    const text = literalText(node);
    if (text === undefined) continue;
    const { start: at, end } = node.range;
    const textAt = at + node.input.slice(at, end).indexOf(text);
    // A literal with escapes is not found at its position, and is skipped.
    if (textAt >= at) yield { text, at, textAt, what: `${access.field} of a ${name.toLowerCase()}`, words };
  }
}
