import type { Snippet } from '../contracts/search.js';
import { isAscii, pairsOf, piecesOf } from './log-text.js';
import type { TextConditions } from './text-query.js';

/** UTF-16 units before the first match, and in total. */
const BEFORE = 60;
const LENGTH = 240;
/** Longer texts are searched for marks around the first place only, in parts of this length. */
const PART = 65_536;
/** Parts that are compared, from the first with a match on: more of a long text would delay other requests. */
const MOST_PARTS = 4;
const ELLIPSIS = '…';
/** A character with the marks that belong to it. */
const CLUSTERS = /[^\p{M}\uFF9E\uFF9F][\p{M}\uFF9E\uFF9F]*|[\p{M}\uFF9E\uFF9F]+/gsu;

/** A token and its place in a text. */
interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A match: its place, and which condition is met. */
interface Mark {
  readonly start: number;
  readonly end: number;
  readonly condition: number;
}

/** An excerpt where most conditions of a query match, with its matches marked; without a match, the beginning of the text. */
export function snippetOf(text: string, conditions: TextConditions): Snippet {
  const { phrases, prefixes, literals } = conditions;
  const wanted = phrases.length + prefixes.length + literals.length;
  let best = { at: -1, met: 0 };
  for (let from = 0, end = text.length; from < end && best.met < wanted; from += PART) {
    // Parts overlap, so that a match is whole in one of them.
    const part = text.slice(from, from + PART + LENGTH);
    if (isAscii(part) && !mayHave(part.toLowerCase(), conditions)) continue;
    const found = fullestPlace(marksIn(part, conditions));
    if (found.met <= best.met) continue;
    if (best.met === 0) end = Math.min(end, from + MOST_PARTS * PART);
    best = { at: from + found.at, met: found.met };
  }
  if (best.met > 0) return around(text, best.at, conditions);
  return { text: shown(text, 0, LENGTH), marks: [] };
}

/** Where the most different conditions are met within a snippet, closest to each other. */
function fullestPlace(marks: readonly Mark[]): { readonly at: number; readonly met: number } {
  let best = { at: -1, met: 0, length: 0 };
  for (const [i, { start }] of marks.entries()) {
    const met = new Set<number>();
    let length = 0;
    for (let j = i; j < marks.length; j++) {
      const mark = marks[j];
      if (mark === undefined || (j > i && mark.end > start + LENGTH - BEFORE)) break;
      if (!met.has(mark.condition)) length = mark.start - start;
      met.add(mark.condition);
    }
    if (met.size > best.met || (met.size === best.met && length < best.length))
      best = { at: start, met: met.size, length };
  }
  return best;
}

/** Cheaper than cutting a text into tokens. */
function mayHave(text: string, { phrases, prefixes, literals }: TextConditions): boolean {
  const has = (part: string | undefined): boolean => part !== undefined && text.includes(part);
  return [...phrases, ...prefixes].some(([first]) => has(first)) || literals.some(has);
}

function around(text: string, place: number, conditions: TextConditions): Snippet {
  const start = wordStart(text, Math.max(0, place - BEFORE));
  const end = Math.min(text.length, start + LENGTH);
  // Some more text, so that a word at either end is not cut.
  const from = Math.max(0, start - BEFORE);
  const shift = from - start + (start > 0 ? ELLIPSIS.length : 0);
  const marks = marksIn(text.slice(from, end + BEFORE), conditions)
    .filter((mark) => mark.start + from >= start && mark.end + from <= end)
    .map((mark) => [mark.start + shift, mark.end + shift] as const);
  return { text: shown(text, start, end), marks };
}

/** Begins after a space near the start, if there is one. */
function wordStart(text: string, start: number): number {
  if (start === 0) return 0;
  const space = text.slice(start, start + BEFORE / 2).search(/\s/);
  const at = space < 0 ? start : start + space + 1;
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at + 1 : at;
}

/** In one line, with signs where it is cut. */
function shown(text: string, start: number, end: number): string {
  const cut = text.slice(start, end).replaceAll(/\s/g, ' ').toWellFormed();
  return `${start > 0 ? ELLIPSIS : ''}${cut}${end < text.length ? ELLIPSIS : ''}`;
}

/** All matches, in order, without overlaps. */
function marksIn(text: string, { phrases, prefixes, literals }: TextConditions): Mark[] {
  const tokens = tokensIn(text);
  const found: Mark[] = [];
  for (const [i, phrase] of [...phrases, ...prefixes].entries())
    for (let at = 0; at + phrase.length <= tokens.length; at++) {
      const isHere = phrase.every((wanted, nth) => {
        const token = tokens[at + nth]?.text ?? '';
        return i >= phrases.length && nth === phrase.length - 1 ? token.startsWith(wanted) : token === wanted;
      });
      const [first, last] = [tokens[at], tokens[at + phrase.length - 1]];
      if (isHere && first && last) found.push({ start: first.start, end: last.end, condition: i });
    }
  for (const [i, literal] of literals.entries())
    for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + literal.length))
      found.push({ start: at, end: at + literal.length, condition: phrases.length + prefixes.length + i });
  let end = 0;
  return found
    .sort((a, b) => a.start - b.start)
    .filter((mark) => {
      const isFree = mark.start >= end;
      if (isFree) end = mark.end;
      return isFree;
    });
}

/** The tokens of a text as `tokensOf` cuts them, each character with its marks normalized separately. */
function tokensIn(text: string): Token[] {
  let normal = '';
  /** Where each UTF-16 unit of `normal` comes from. */
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { 0: cluster, index } of text.matchAll(CLUSTERS)) {
    const folded = cluster.normalize('NFKC').toLowerCase();
    for (let i = 0; i < folded.length; i++) {
      starts.push(index);
      ends.push(index + cluster.length);
    }
    normal += folded;
  }
  const place = (from: number, length: number): Pick<Token, 'start' | 'end'> => ({
    start: starts[from] ?? 0,
    end: ends[from + length - 1] ?? 0,
  });
  const tokens: Token[] = [];
  for (const { 0: piece, 1: spaceless, 2: symbols, index } of piecesOf(normal)) {
    if (symbols !== undefined) continue;
    let at = index;
    for (const token of spaceless === undefined ? [piece] : pairsOf(spaceless)) {
      tokens.push({ text: token, ...place(at, token.length) });
      at += String.fromCodePoint(token.codePointAt(0) ?? 0).length;
    }
  }
  return tokens;
}
