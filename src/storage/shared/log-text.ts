import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { endOfString, parseJson, serializeJson } from '../../signal/json.js';

/** Separates the texts of {@link SearchedTexts}'s `other`; a phrase never continues across it. */
const TEXT_SEPARATOR = '\x1f';
/** Maximum searched characters of one attribute, and of all attributes of a record. The index has one row per word. */
const MOST_OF_VALUE = 8192;
const MOST_OF_VALUES = 32_768;
/** Longer values of attributes are not decoded: JSON of megabytes takes half a second. */
const MOST_DECODED = 65_536;
/** Levels of JSON text inside JSON text that are decoded. */
const MOST_LEVELS = 4;

/** Scripts without spaces between words, and Korean, whose words have particles attached. */
const SCRIPTS = [
  'Han',
  'Hira',
  'Kana',
  'Hang',
  'Bopo',
  'Yiii',
  'Thai',
  'Laoo',
  'Khmr',
  'Mymr',
  'Lana',
  'Tale',
  'Talu',
  'Tavt',
]
  .map((script) => `\\p{scx=${script}}`)
  .join('');
const SPACELESS = `[[\\p{L}\\p{N}]&&[${SCRIPTS}]]`;
/** A character whose script has no spaces between words. */
export const PAIRED_CHARACTER = new RegExp(`^${SPACELESS}$`, 'v');
const SPACELESS_RUN = `${SPACELESS}[[\\p{L}\\p{N}\\p{M}]&&[${SCRIPTS}]]*`;
/** Symbols beyond ASCII, such as emoji and arrows, with what joins and varies emoji. */
const SYMBOLS = '[\\p{S}--[\\0-\\x7f]](?:\\p{S}|\\u200d|\\ufe0f)*';
/** A run of letters and digits, of a script without spaces (first group) or of another one, or of symbols (second group). */
const PIECE = new RegExp(`(${SPACELESS_RUN})|[[\\p{L}\\p{N}]--${SPACELESS}]+|(${SYMBOLS})`, 'gv');
const TOKEN_IN_ASCII = /[a-z0-9]+/g;
/**
 * More than 30 marks on one character, including those that only NFKC creates. No language has so many (UAX #15, Stream-Safe Text), and
 * ordering them takes time quadratic in their number: minutes for a megabyte.
 */
const PILED_MARKS = /([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu;
/**
 * NFKC can expand a character to 18 (U+FDFA); a megabyte of those blocked the thread for a second. No language comes near a factor of
 * three: text beyond that is not searched, with an allowance so that short texts of ligatures are complete.
 */
const MOST_GROWTH = 3;
const FREE_GROWTH = 64;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** Characters that need decoding: beyond ASCII, escape characters and backslashes. SQL splits texts without them into tokens. */
const ESCAPE = '\x1b';
const NOT_PLAIN = new RegExp(`[^\\0-\\x7f]|[${ESCAPE}\\\\]`);
/** Escape sequences of terminals: colours and the like, titles and links, and others. Each part excludes the next, so none backtracks. */
const BELL = '\x07';
const TERMINAL_SEQUENCE = new RegExp(
  `(?:${ESCAPE}\\[|\\x9b)[0-?]*[ -/]*[@-~]|${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)|${ESCAPE}[ -/]*[0-~]`,
  'g',
);

/** The searched texts of a record. */
export interface SearchedTexts {
  readonly body: string | null;
  /** The event name and the values of attributes, as a person sees them, with U+001F between them. */
  readonly other: string | null;
  /**
   * All tokens with a space before and after each and two spaces between texts, so that a phrase is a substring; symbols are at
   * the end. Null if SQL can split body and `other`: everything is ASCII and needs no decoding.
   */
  readonly normal: string | null;
}

/** Whether a text has characters that Unicode would change beyond their case. */
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/** The displayed form of a body: text unchanged, anything else as JSON; null if nothing was sent. */
export function bodyText(body: JsonValue): string | null {
  if (typeof body === 'string') return body;
  return body === null ? null : serializeJson(body);
}

/** @param body from {@link bodyText} */
export function searchedTexts(
  body: string | null,
  eventName: string | null,
  attributes: JsonObject,
): SearchedTexts {
  const joined = joinedTexts(eventName, attributes);
  // Most records have a body of ASCII and a few short values; each costs one scan.
  const isSimple = joined === null || (joined.length <= MOST_OF_VALUE && !NOT_PLAIN.test(joined));
  if (isSimple && (body === null || !NOT_PLAIN.test(body))) return { body, other: joined, normal: null };
  const other = isSimple ? joined : visibleTexts(eventName, attributes);
  const visible = body === null ? null : visibleText(body);
  const isPlain = visible === body && (body === null || isAscii(body)) && (other === null || isAscii(other));
  return { body, other, normal: isPlain ? null : wordsIn(visible, other) };
}

/** @param row the columns of a stored record */
export function textsOfRow(row: Readonly<Record<string, unknown>>): SearchedTexts {
  const { body, event_name: name, attributes } = row;
  return searchedTexts(
    typeof body === 'string' ? body : null,
    typeof name === 'string' ? name : null,
    typeof attributes === 'string' ? (parseJson(attributes) as JsonObject) : {},
  );
}

/** All tokens of a record in the form of `normal`. */
export function wordsOf({ body, other, normal }: SearchedTexts): string {
  return normal ?? wordsIn(body, other);
}

/**
 * The tokens of a text in order, after NFKC and lower-casing: runs of letters and digits; of scripts without spaces each pair of
 * neighbours. Keeps the first 30 of stacked marks, and the beginning of text that NFKC expands too much.
 *
 * @param symbols receives runs of symbols, such as emoji
 */
export function tokensOf(text: string, symbols: string[] = []): string[] {
  if (isAscii(text)) return text.toLowerCase().match(TOKEN_IN_ASCII) ?? [];
  const tokens: string[] = [];
  for (const [piece, spaceless, symbol] of piecesOf(text)) {
    if (symbol !== undefined) symbols.push(symbol);
    else if (spaceless === undefined) tokens.push(piece);
    // One by one, because a text may have more pairs than a call can have arguments.
    else for (const pair of pairsOf(spaceless)) tokens.push(pair);
  }
  return tokens;
}

/** Matches of {@link PIECE} after NFKC and lower-casing: the text, and again if it is in a script without spaces, or symbols. */
export function piecesOf(text: string): Iterable<RegExpExecArray> {
  const normal = text.replace(PILED_MARKS, '$1').normalize('NFKC');
  return normal
    .slice(0, FREE_GROWTH + MOST_GROWTH * text.length)
    .toLowerCase()
    .matchAll(PIECE);
}

/** Each pair of adjacent characters; a single character alone. */
export function pairsOf(text: string): string[] {
  const characters = Array.from(text);
  if (characters.length < 2) return characters;
  return characters.slice(1).map((second, i) => `${characters[i] ?? ''}${second}`);
}

/** The tokens of texts in the form of `normal`. */
export function wordsIn(...searched: readonly (string | null)[]): string {
  const texts = searched.flatMap((text) => text?.split(TEXT_SEPARATOR) ?? []);
  const symbols: string[] = [];
  const words = texts.map((text) => tokensOf(text, symbols).join(' '));
  const found = [...words, ...symbols].filter((tokens) => tokens !== '');
  return found.length === 0 ? '' : ` ${found.join('  ')} `;
}

/** The event name and the values of attributes. */
function joinedTexts(eventName: string | null, attributes: JsonObject): string | null {
  let text = eventName;
  for (const key in attributes) {
    const value = attributes[key] ?? null;
    if (value === null) continue;
    text = text === null ? attributeText(value) : text + TEXT_SEPARATOR + attributeText(value);
  }
  return text;
}

/** The same as displayed to people, up to the maximum lengths. */
function visibleTexts(eventName: string | null, attributes: JsonObject): string {
  const values = Object.values(attributes).filter((value) => value !== null);
  return [...(eventName === null ? [] : [eventName]), ...values.map(attributeText)]
    .map((value) =>
      (value.length > MOST_DECODED ? value : visibleText(value))
        .slice(0, MOST_OF_VALUE)
        .replaceAll(TEXT_SEPARATOR, ' '),
    )
    .join(TEXT_SEPARATOR)
    .slice(0, MOST_OF_VALUES)
    .toWellFormed();
}

/** The value of an attribute as filters compare it: text unchanged, anything else as JSON. */
export function attributeText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? serializeJson(value) : String(value);
}

/** A text as a person sees it: the strings of JSON decoded, without escape sequences of terminals. */
export function visibleText(text: string): string {
  return withoutTerminalSequences(text.includes('\\') ? decodeJson(text, MOST_LEVELS) : text);
}

export function withoutTerminalSequences(text: string): string {
  return text.includes('\x1b') || text.includes('\x9b') ? text.replace(TERMINAL_SEQUENCE, '') : text;
}

/** Decodes the strings of a text that is JSON or ends with it, also the strings of JSON inside them. */
function decodeJson(text: string, levels: number): string {
  const start = startOfJson(text);
  if (start === null || levels === 0) return text;
  let [decoded, copied] = ['', 0];
  for (let open = text.indexOf('"', start); open >= 0;) {
    const end = endOfString(text, open);
    const begin = open;
    open = text.indexOf('"', end + 1);
    const quoted = text.slice(begin, end + 1);
    if (!quoted.includes('\\')) continue;
    decoded += `${text.slice(copied, begin)} ${decodeJson(JSON.parse(quoted) as string, levels - 1)} `;
    copied = end + 1;
  }
  return decoded + text.slice(copied);
}

/** Start of the JSON object or list at the end of a text; null without one. */
function startOfJson(text: string): number | null {
  const starts = new Set([text.search(/\S/), text.indexOf('{')]);
  for (const start of starts) {
    if (text[start] !== '{' && text[start] !== '[') continue;
    try {
      JSON.parse(text.slice(start));
      return start;
    } catch {
      // Text in brackets that is not JSON.
    }
  }
  return null;
}
