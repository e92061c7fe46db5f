/** Consecutive characters: for each, the possible codes. */
export type Run = readonly (readonly number[])[];

/** Longer runs give no more information. */
const LONGEST = 32;
/**
 * Characters that a run may contain: those written the same in every source. JSON escapes some characters, and the separator added
 * between a key and its value (`clientId: ` is read as `client_Id: `) is in no sent text.
 */
const PLAIN = codesOf("!#$%&'()*+,-.;<=>?@[]^`{|}~").concat(
  range('0', '9'),
  range('A', 'Z'),
  range('a', 'z'),
);
const isPlain = new Set(PLAIN);
/** Letters with a third form under case folding. */
const THREE_FORMS = new Set(codesOf('kKsS'));
const PUNCTUATION = /^[!-/:-@[-`{-~]$/;
const DIGITS = range('0', '9');

/**
 * Reads a simple RE2 pattern: for each of its alternatives, the runs that every match contains.
 *
 * @returns undefined if the pattern is not simple
 */
export function readRuns(regex: string): readonly (readonly Run[])[] | undefined {
  const hasNoCase = regex.startsWith('(?i)');
  const reader = new Reader(hasNoCase ? regex.slice('(?i)'.length) : regex, hasNoCase);
  return reader.alternatives();
}

/** A part of a pattern: the codes of a character, null for anything else that consumes text, undefined for a zero-width part. */
type Part = readonly number[] | null | undefined;

class NotUnderstood extends Error {}

class Reader {
  readonly #regex: string;
  readonly #hasNoCase: boolean;
  #at = 0;

  constructor(regex: string, hasNoCase: boolean) {
    this.#regex = regex;
    this.#hasNoCase = hasNoCase;
  }

  alternatives(): readonly (readonly Run[])[] | undefined {
    try {
      const found = [this.#runs()];
      while (this.#take('|')) found.push(this.#runs());
      return this.#at === this.#regex.length ? found : undefined;
    } catch (error) {
      if (error instanceof NotUnderstood) return undefined;
      throw error;
    }
  }

  /** The runs up to the next `|` or the end. */
  #runs(): readonly Run[] {
    const runs: (readonly number[])[][] = [[]];
    const add = (part: readonly number[]): void => {
      const run = runs.at(-1) ?? [];
      if (run.length < LONGEST) run.push(part);
      else runs.push([part]);
    };
    while (this.#at < this.#regex.length && this.#regex[this.#at] !== '|') {
      const part = this.#part();
      const { least, isExact } = this.#times();
      if (part === undefined) {
        if (!isExact || least !== 1) throw new NotUnderstood();
        continue;
      }
      const usable = part === null ? null : this.#usable(part);
      if (usable === null) {
        runs.push([]);
        continue;
      }
      for (let count = 0; count < least; count++) add(usable);
      if (isExact) continue;
      runs.push([]);
      // The last repetition is adjacent to the next part.
      if (least > 0) add(usable);
    }
    return runs.filter((run) => run.length > 1);
  }

  /** The codes in any case; null if one of them may be written in another form. */
  #usable(codes: readonly number[]): readonly number[] | null {
    const isKnown = codes.every((code) => isPlain.has(code) && !(this.#hasNoCase && THREE_FORMS.has(code)));
    if (!isKnown) return null;
    if (!this.#hasNoCase) return codes;
    const text = String.fromCharCode(...codes);
    return [...new Set(codesOf(text.toLowerCase() + text.toUpperCase()))];
  }

  #part(): Part {
    const character = this.#next();
    switch (character) {
      case '^':
      case '$':
        return undefined;
      case '.':
        return null;
      case '(':
        this.#skipGroup();
        return null;
      case '[':
        return this.#class();
      case '\\':
        return this.#escape();
      case ')':
      case '*':
      case '+':
      case '?':
      case '{':
        throw new NotUnderstood();
      default:
        return [character.charCodeAt(0)];
    }
  }

  #escape(): Part {
    const character = this.#next();
    if (character === 'd') return DIGITS;
    if ('wWsSD'.includes(character)) return null;
    if ('bBAz'.includes(character)) return undefined;
    if (PUNCTUATION.test(character)) return [character.charCodeAt(0)];
    throw new NotUnderstood();
  }

  #class(): Part {
    if (this.#regex[this.#at] === '^') throw new NotUnderstood();
    const codes: number[] = [];
    for (let isFirst = true; isFirst || this.#regex[this.#at] !== ']'; isFirst = false) {
      const first = this.#member();
      const isRange = this.#regex[this.#at] === '-' && this.#regex[this.#at + 1] !== ']';
      if (!isRange) {
        codes.push(...first);
        continue;
      }
      this.#at++;
      const last = this.#member();
      if (first.length !== 1 || last.length !== 1) throw new NotUnderstood();
      codes.push(...range(String.fromCharCode(...first), String.fromCharCode(...last)));
    }
    this.#at++;
    return codes;
  }

  #member(): readonly number[] {
    const character = this.#next();
    if (character === '[') throw new NotUnderstood();
    if (character !== '\\') return [character.charCodeAt(0)];
    const escaped = this.#escape();
    if (!Array.isArray(escaped)) throw new NotUnderstood();
    return escaped as readonly number[];
  }

  /** Skips a group, whose content is unknown. Inline flags that change the meaning of letters are not supported. */
  #skipGroup(): void {
    if (this.#regex[this.#at] === '?' && !/^\?(:|P?<\w+>)/.test(this.#regex.slice(this.#at, this.#at + 100)))
      throw new NotUnderstood();
    for (let depth = 1; depth > 0;) {
      const character = this.#next();
      if (character === '\\') {
        // `\Q…\E` and similar may contain literal brackets.
        if (
          !/[dDwWsSbBAz]/.test(this.#regex[this.#at] ?? '') &&
          !PUNCTUATION.test(this.#regex[this.#at] ?? '')
        )
          throw new NotUnderstood();
        this.#at++;
      } else if (character === '[') {
        if (this.#class() === undefined) throw new NotUnderstood();
      } else if (character === '(') {
        if (
          this.#regex[this.#at] === '?' &&
          !/^\?(:|P?<\w+>)/.test(this.#regex.slice(this.#at, this.#at + 100))
        )
          throw new NotUnderstood();
        depth++;
      } else if (character === ')') depth--;
    }
  }

  /** The minimum number of repetitions of the previous part, and whether the number is exact. */
  #times(): { readonly least: number; readonly isExact: boolean } {
    const rest = this.#regex.slice(this.#at);
    const [all, sign, least, comma, most] = /^(?:([*+?])|\{(\d{1,4})(,(\d{1,4})?)?\})\??/.exec(rest) ?? [];
    if (all === undefined) return { least: 1, isExact: true };
    this.#at += all.length;
    if (/^[*+?{]/.test(this.#regex.slice(this.#at))) throw new NotUnderstood();
    if (sign !== undefined) return { least: sign === '+' ? 1 : 0, isExact: false };
    const times = Number(least);
    return {
      least: Math.min(times, LONGEST),
      isExact: times <= LONGEST && (comma === undefined || most === least),
    };
  }

  #take(character: string): boolean {
    if (this.#regex[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #next(): string {
    const character = this.#regex[this.#at++];
    if (character === undefined) throw new NotUnderstood();
    return character;
  }
}

function codesOf(characters: string): number[] {
  return Array.from(characters, (character) => character.charCodeAt(0));
}

function range(first: string, last: string): number[] {
  const from = first.charCodeAt(0);
  return Array.from({ length: Math.max(0, last.charCodeAt(0) - from + 1) }, (_, at) => from + at);
}
