import { diffLines, diffWordsWithSpace, type ChangeObject } from 'diff';
import { member, printJson, textOf, type Json } from '../json/parse.js';
import { readConversation } from './conversation.js';
import { partText } from './history.js';

/** A piece of text in both texts, or only one. */
export interface DiffPiece {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Texts with more edits are not aligned. */
const MAX_EDITS = 1000;
/** Context lines around a change. */
const CONTEXT = 3;

/**
 * The difference of two texts by line, and by word within changed lines.
 *
 * @returns undefined if they differ too much
 */
export function diffTexts(a: string, b: string): readonly DiffPiece[] | undefined {
  const lines = diffLines(a, b, { maxEditLength: MAX_EDITS });
  if (lines === undefined) return undefined;
  const pieces: DiffPiece[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [line, next] = [lines[at], lines[at + 1]];
    if (!line) continue;
    if (line.removed && next?.added) {
      const words = diffWordsWithSpace(line.value, next.value, { maxEditLength: MAX_EDITS });
      pieces.push(...joined((words ?? [line, next]).map(pieceOf)));
      at += 1;
    } else pieces.push(pieceOf(line));
  }
  return pieces;
}

/** Blanks or a short word between two changes, which would only break them up. */
const WEAK = /^\s*[\p{L}\p{N}]{0,4}\s*$/u;

/** Merges changes with almost nothing between them, so that removed and added text read as a whole. */
function joined(pieces: readonly DiffPiece[]): readonly DiffPiece[] {
  const found: DiffPiece[] = [];
  let [gone, come] = ['', ''];
  const end = (): void => {
    if (gone !== '') found.push({ kind: 'gone', text: gone });
    if (come !== '') found.push({ kind: 'new', text: come });
    [gone, come] = ['', ''];
  };
  for (const [at, { kind, text }] of pieces.entries()) {
    const isBetween = at > 0 && at < pieces.length - 1 && WEAK.test(text);
    if (kind === 'same' && !isBetween) {
      end();
      found.push({ kind, text });
    } else {
      if (kind !== 'new') gone += text;
      if (kind !== 'gone') come += text;
    }
  }
  end();
  return found;
}

function pieceOf({ added, removed, value }: ChangeObject<string>): DiffPiece {
  return { kind: added ? 'new' : removed ? 'gone' : 'same', text: value };
}

/**
 * Shortens long unchanged text to its ends.
 *
 * @returns the piece, or both ends and the number of lines between
 */
export function shortened(
  piece: DiffPiece,
  isFirst: boolean,
  isLast: boolean,
): { readonly head: string; readonly hidden: number; readonly tail: string } {
  const lines = piece.text.split('\n');
  const [keepHead, keepTail] = [isFirst ? 0 : CONTEXT, isLast ? 0 : CONTEXT + 1];
  if (piece.kind !== 'same' || lines.length <= keepHead + keepTail + CONTEXT)
    return { head: piece.text, hidden: 0, tail: '' };
  return {
    head: lines
      .slice(0, keepHead)
      .map((line) => `${line}\n`)
      .join(''),
    hidden: lines.length - keepHead - keepTail,
    tail: keepTail === 0 ? '' : lines.slice(-keepTail).join('\n'),
  };
}

/** A payload as comparable text: role and content of a conversation, otherwise JSON. */
export function payloadText(detail: Json, side: 'input' | 'output'): string {
  const value = member(detail, `${side}_data`);
  if (value === undefined || (value.kind === 'literal' && value.value === null)) return '';
  const conversation = readConversation(value, side);
  if (conversation === undefined) return textOf(value) ?? printJson(value, true);
  const messages = conversation.messages.map(
    ({ role, name, parts }) =>
      `${name === undefined ? role : `${role} (${name})`}\n${parts.map(partText).join('\n')}\n`,
  );
  const rest = conversation.rest.map(([key, each]) => `${key}: ${printJson(each, true)}\n`);
  return [...messages, ...rest].join('\n');
}
