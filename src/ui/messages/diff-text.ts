import { diffLines, diffWordsWithSpace, type ChangeObject } from 'diff';
import { member, printJson, textOf, type Json } from '../json/parse.js';
import { readConversation } from './conversation.js';
import type { Part } from './message.js';

/** A piece of a text that both have, or only one. */
export interface DiffPiece {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Texts that differ in more places are too different to be laid over each other. */
const MOST_EDITS = 1000;
/** Lines around a change that are shown. */
const CONTEXT = 3;

/**
 * What became of a text, by lines and within changed lines by words.
 *
 * @returns undefined where they differ in too much to say
 */
export function diffTexts(a: string, b: string): readonly DiffPiece[] | undefined {
  const lines = diffLines(a, b, { maxEditLength: MOST_EDITS });
  if (lines === undefined) return undefined;
  const pieces: DiffPiece[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [line, next] = [lines[at], lines[at + 1]];
    if (!line) continue;
    if (line.removed && next?.added) {
      const words = diffWordsWithSpace(line.value, next.value, { maxEditLength: MOST_EDITS });
      pieces.push(...joined((words ?? [line, next]).map(pieceOf)));
      at += 1;
    } else pieces.push(pieceOf(line));
  }
  return pieces;
}

/** A blank, or one short word: between two changes it only chops up what reads as one. */
const WEAK = /^\s*[\p{L}\p{N}]{0,4}\s*$/u;

/** Changes with next to nothing between them become one, so that what went and what came are read in a row each. */
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

/** What is shown of a long text that both have: its ends. @returns the piece, or its two ends and how many lines lie between */
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

/** A payload as a text that can be compared: who said what where it is a conversation, otherwise the JSON. */
export function payloadText(detail: Json, side: 'input' | 'output'): string {
  const value = member(detail, `${side}_data`);
  if (value === undefined || (value.kind === 'literal' && value.value === null)) return '';
  const conversation = readConversation(value, side);
  if (conversation === undefined) return textOf(value) ?? printJson(value, true);
  const said = conversation.messages.map(
    ({ role, name, parts }) =>
      `${name === undefined ? role : `${role} (${name})`}\n${parts.map(partText).join('\n')}\n`,
  );
  const rest = conversation.rest.map(([key, each]) => `${key}: ${printJson(each, true)}\n`);
  return [...said, ...rest].join('\n');
}

function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'reasoning':
      return `Reasoning: ${part.text}`;
    case 'call':
      return `→ ${part.name} ${part.input === undefined ? '' : printJson(part.input, true)}`;
    case 'result':
      return `← ${part.name ?? ''} ${part.output === undefined ? '' : (textOf(part.output) ?? printJson(part.output, true))}`;
    case 'media':
      return `[${part.what}${part.source === undefined ? '' : ` ${part.source}`}]`;
    case 'unknown':
      return printJson(part.value, true);
  }
}
