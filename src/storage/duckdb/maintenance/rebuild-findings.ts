import { formatUuid } from '../../../worker/uuid-words.js';

const MAX_EXAMPLES = 20;
const KINDS = ['traces', 'spans', 'sums'] as const;
type Kind = (typeof KINDS)[number];

/** A difference in the map of a user. */
export interface Example {
  readonly tenant: number;
  readonly words: string;
}

/** The differences that a rebuild of the service map found: counts by kind, and some examples as text. */
export class Findings {
  readonly #counts: Record<Kind, number> = { traces: 0, spans: 0, sums: 0 };
  readonly #examples: Record<Kind, Example[]> = { traces: [], spans: [], sums: [] };

  /** @param words called only if another example is kept */
  add(kind: Kind, tenant: number, words: () => string): void {
    this.#counts[kind]++;
    const examples = this.#examples[kind];
    if (examples.length < MAX_EXAMPLES) examples.push({ tenant, words: words() });
  }

  count(kind: Kind): number {
    return this.#counts[kind];
  }

  /** The examples by kind, in the order found; the limit is divided evenly among the kinds. */
  get examples(): Example[] {
    const shares: Record<Kind, number> = { traces: 0, spans: 0, sums: 0 };
    for (let left = MAX_EXAMPLES, before = -1; left > 0 && left !== before;) {
      before = left;
      for (const kind of KINDS) {
        if (left === 0 || shares[kind] === this.#examples[kind].length) continue;
        shares[kind]++;
        left--;
      }
    }
    return KINDS.flatMap((kind) => this.#examples[kind].slice(0, shares[kind]));
  }
}

/** @param words the trace's id, from `offset` on */
export function nameTrace(words: Uint32Array, offset: number): string {
  return `trace ${formatUuid(words, offset)}`;
}
