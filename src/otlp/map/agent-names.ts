import { storableName } from '../../signal/names.js';
import { remembering } from '../../signal/remembering.js';
import { CONVENTIONS } from './clients/index.js';
import { inPlaceOfStar, NamePatterns } from './name-patterns.js';

/** What an operator adds to the names that the tables in `clients/` know. `*` stands for anything. */
export interface AddedAgentNames {
  /** Names that name no run. */
  readonly generic: readonly string[];
  /** Names that do, whatever the tables say; of a root also where nothing else says that it is an agent. */
  readonly specific: readonly string[];
}

/** So many names and what they come to are remembered; names may hold ids, and then they never come again. */
const MAX_KNOWN = 4096;
const AROUND = CONVENTIONS.flatMap(({ agentNames }) => agentNames?.around ?? []);
const GENERIC = new NamePatterns(CONVENTIONS.flatMap(({ agentNames }) => agentNames?.generic ?? []));
const WRAPPERS = new NamePatterns(CONVENTIONS.flatMap(({ agentNames }) => agentNames?.wrappers ?? []));
/** Ids that are given to those who have no name. */
const ID = /^(?=.*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}$/i;
const NOBODY: AddedAgentNames = { generic: [], specific: [] };

/** Which names are those of an agent, and which only say what a thing is. */
export class AgentNames {
  readonly #generic: NamePatterns;
  readonly #specific: NamePatterns;
  /** The agent's name in what an attribute or the name of a span says; null where it is no agent's name. */
  readonly nameIn = remembering(MAX_KNOWN, (text) => this.#find(text));

  constructor({ generic, specific }: AddedAgentNames = NOBODY) {
    this.#generic = new NamePatterns(generic);
    this.#specific = new NamePatterns(specific);
  }

  /** Whether the operator says that this is an agent's name. */
  isSpecific(text: string): boolean {
    return this.#specific.has(text);
  }

  /** Whether a span of this name only stands around agents, whatever its client calls it. */
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
