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
/** Generated ids used in place of a name. */
const ID = /^(?=.*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}$/i;
const NOBODY: AddedAgentNames = { generic: [], specific: [] };

/** Separates names of agents from generic names. */
export class AgentNames {
  readonly #generic: NamePatterns;
  readonly #specific: NamePatterns;
  /** The agent's name in an attribute or a span name; null if it does not name an agent. */
  readonly nameIn = remembering(MAX_KNOWN, (text) => this.#find(text));

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
    return bare === '' || this.#isGeneric(bare) ? null : bare;
  }

  #isGeneric(name: string): boolean {
    return GENERIC.has(name) || this.#generic.has(name) || ID.test(name);
  }
}

function withoutAround(name: string): string {
  for (const around of AROUND) {
    const bare = inPlaceOfStar(name, around);
    if (bare !== undefined) return bare;
  }
  return name;
}
