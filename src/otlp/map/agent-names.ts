import { storableName } from '../../signal/names.js';
import { remembering } from '../../signal/remembering.js';
import { CONVENTIONS } from './clients/index.js';
import { inPlaceOfStar, NamePatterns } from './name-patterns.js';

/** Names that an operator adds to the tables in `clients/`. `*` matches any text. */
export interface AddedAgentNames {
  /** Names that are not names of agents. */
  readonly generic: readonly string[];
  /** Names that are, regardless of the tables. A root span with such a name names its agent even without attributes. */
  readonly specific: readonly string[];
}

/** Limit of the cache of names and their results; names may contain ids, and then they never repeat. */
const MAX_KNOWN = 4096;
const AROUND = CONVENTIONS.flatMap(({ agentNames }) => agentNames?.around ?? []);
const GENERIC = new NamePatterns(CONVENTIONS.flatMap(({ agentNames }) => agentNames?.generic ?? []));
const WRAPPERS = new NamePatterns(CONVENTIONS.flatMap(({ agentNames }) => agentNames?.wrappers ?? []));
/** Values of `service.name` that SDKs set if programs set none. */
const CONSTANT = new NamePatterns(CONVENTIONS.flatMap(({ agentNames }) => agentNames?.services ?? []));
/** The path of a script, which some programs use as their name. */
const SCRIPT = /\.(?:[cm]?[jt]sx?|py|pyw|rb|php|ipynb)$/i;
/** Common names of scripts and folders, which identify no program. */
const COMMON = new Set([
  '',
  '.',
  '..',
  '__main__',
  '__init__',
  'index',
  'server',
  'app',
  'src',
  'dist',
  'bin',
  'lib',
]);
const NOBODY: AddedAgentNames = { generic: [], specific: [] };

/** Separates names of agents from generic names. */
export class AgentNames {
  readonly #generic: NamePatterns;
  readonly #specific: NamePatterns;
  /** The agent's name in an attribute or a span name; null if it does not name an agent. */
  readonly nameIn = remembering(MAX_KNOWN, (text) => this.#find(text));
  /** The program's name in `service.name`; null if the SDK set it, or if it is only an id. */
  readonly serviceIn = remembering(MAX_KNOWN, (text) => this.#findService(text));
  /** A name without ids; empty if it is only an id. */
  readonly withoutIds = remembering(MAX_KNOWN, (text) => storableName(withoutIds(storableName(text))));

  constructor({ generic, specific }: AddedAgentNames = NOBODY) {
    this.#generic = new NamePatterns(generic);
    this.#specific = new NamePatterns(specific);
  }

  /** Whether the operator says that this is an agent's name. */
  isSpecific(text: string): boolean {
    return this.#specific.has(text);
  }

  /** Whether a span of this name only wraps agents, regardless of its reported kind. */
  isWrapper(spanName: string): boolean {
    return WRAPPERS.has(spanName);
  }

  #find(text: string): string | null {
    const whole = storableName(text);
    if (this.#specific.has(whole)) return whole;
    if (whole === '' || this.#isGeneric(whole)) return null;
    const bare = storableName(withoutAround(whole));
    if (this.#specific.has(bare)) return bare;
    if (bare === '' || this.#isGeneric(bare)) return null;
    const name = this.withoutIds(bare);
    if (name === bare || this.#specific.has(name)) return name;
    return name === '' || this.#isGeneric(name) ? null : name;
  }

  #findService(text: string): string | null {
    const name = storableName(text);
    if (this.#specific.has(name)) return name;
    if (name === '' || CONSTANT.has(name)) return null;
    return this.withoutIds(SCRIPT.test(name) ? this.#programOf(name) : name) || null;
  }

  /** The name of a script or of its folder; the complete path if both are common names. */
  #programOf(path: string): string {
    const [script = '', folder = ''] = path.replace(SCRIPT, '').split(/[\\/]/).reverse();
    return [script, folder].find((name) => !COMMON.has(name.toLowerCase()) && !this.#isGeneric(name)) ?? path;
  }

  #isGeneric(name: string): boolean {
    return GENERIC.has(name) || this.#generic.has(name);
  }
}

function withoutAround(name: string): string {
  for (const around of AROUND) {
    const bare = inPlaceOfStar(name, around);
    if (bare !== undefined) return bare;
  }
  return name;
}

const UUID = /^[0-9a-f]{8}([-_])[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i;
const UUID_LENGTH = 36;
const ID = /^(?:\d{4,}|(?=.*\d)[0-9a-f]{8,})$/i;
const NUMBERED = /^\D+?(?=\d{4,}$)/;
/** Maximum length of an id. */
const LONGEST_ID = 128;

/**
 * A name without the ids at its end: UUIDs, words of eight and more hexadecimal digits with a digit among them, and numbers of four
 * and more digits. Empty if nothing remains. Linear in the length of the name.
 */
function withoutIds(name: string): string {
  let end = name.length;
  for (;;) {
    const wordEnd = endOfWord(name, end);
    const start = startOfId(name, wordEnd);
    if (start === wordEnd) return end === name.length ? name : name.slice(0, wordEnd);
    end = start;
  }
}

/** The end of the last word before `end`. */
function endOfWord(name: string, end: number): number {
  let at = end;
  while (at > 0 && !isInWord(name, at - 1)) at--;
  return at;
}

/** @returns `end` if no id ends there */
function startOfId(name: string, end: number): number {
  const uuid = end - UUID_LENGTH;
  if (uuid >= 0 && UUID.test(name.slice(uuid, end)) && !isInWord(name, uuid - 1)) return uuid;
  let start = end;
  while (start > 0 && end - start <= LONGEST_ID && isInWord(name, start - 1)) start--;
  const word = name.slice(start, end);
  if (word.length > LONGEST_ID) return end;
  return ID.test(word) ? start : start + (NUMBERED.exec(word)?.[0].length ?? word.length);
}

/** Whether a character is a digit, a letter or outside ASCII. */
function isInWord(name: string, at: number): boolean {
  const code = name.charCodeAt(at);
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code > 127
  );
}
