import { MoneySum, type Usd } from '../../../signal/money.js';
import type { CountedRun } from '../run-figures.js';
import { KeptDurations } from './kept-durations.js';

/** What a run adds to the figures of a prompt version that it used. */
export type LinkedRun = Pick<CountedRun, 'success' | 'cost' | 'durationMs'>;

/** A stored run and the number of a prompt version that it used. */
export interface LinkedPrompt {
  readonly promptNo: number;
  readonly run: LinkedRun;
}

/** The figures of a prompt version over the stored traces that used it. */
export interface PromptTotals {
  readonly traces: number;
  readonly successes: number;
  readonly failures: number;
  /** Over the traces that have a cost; not rounded. */
  readonly meanCost: Usd | null;
  readonly meanDurationMs: number | null;
  readonly p95DurationMs: number | null;
}

interface Change {
  readonly promptNo: number;
  readonly before: LinkedRun | null;
  readonly after: LinkedRun;
}

/**
 * Figures of every prompt version, kept in memory and changed with every commit, so that a comparison needs no look at the
 * tables: it would have to join all links with all runs. About 12 bytes for each link that counts; loaded at the start.
 */
export class PromptFigures {
  #prompts = new Map<number, PromptSums>();
  /** Changes since a load began, which the loaded figures do not hold. */
  #meanwhile: Change[] | null = null;

  /** A linked trace changed. @param before null where the trace did not count for the prompt version */
  change(promptNo: number, before: LinkedRun | null, after: LinkedRun): void {
    this.#meanwhile?.push({ promptNo, before, after });
    this.#sums(promptNo).change(before, after);
  }

  /**
   * Takes all stored links in place of what is known: at the start, and after some were removed.
   *
   * @param stored as of the moment of the call, by the piece; later changes are told meanwhile as always
   */
  async load(stored: AsyncIterable<readonly LinkedPrompt[]>): Promise<void> {
    const meanwhile: Change[] = [];
    this.#meanwhile = meanwhile;
    try {
      const loaded = new PromptFigures();
      for await (const links of stored) {
        for (const { promptNo, run } of links) loaded.change(promptNo, null, run);
      }
      for (const { promptNo, before, after } of meanwhile) loaded.change(promptNo, before, after);
      this.#prompts = loaded.#prompts;
    } finally {
      this.#meanwhile = null;
    }
  }

  totals(promptNo: number): PromptTotals {
    return this.#sums(promptNo).totals();
  }

  #sums(promptNo: number): PromptSums {
    const known = this.#prompts.get(promptNo);
    if (known !== undefined) return known;
    const made = new PromptSums();
    this.#prompts.set(promptNo, made);
    return made;
  }
}

class PromptSums {
  readonly #durations = new KeptDurations();
  #traces = 0;
  #successes = 0;
  #failures = 0;
  #priced = 0;
  readonly #cost = new MoneySum();

  change(before: LinkedRun | null, after: LinkedRun): void {
    if (before !== null) this.#count(before, -1);
    this.#count(after, 1);
    const [earlier, later] = [before?.durationMs ?? null, after.durationMs];
    if (earlier === later) return;
    if (earlier !== null) this.#durations.remove(earlier);
    if (later !== null) this.#durations.add(later);
  }

  totals(): PromptTotals {
    return {
      traces: this.#traces,
      successes: this.#successes,
      failures: this.#failures,
      meanCost: this.#priced === 0 ? null : this.#cost.toNumber() / this.#priced,
      meanDurationMs: this.#durations.mean(),
      p95DurationMs: this.#durations.quantile(0.95),
    };
  }

  #count({ success, cost }: LinkedRun, sign: 1 | -1): void {
    this.#traces += sign;
    if (success === true) this.#successes += sign;
    else if (success === false) this.#failures += sign;
    if (cost !== null) {
      this.#priced += sign;
      this.#cost.add(cost, sign);
    }
  }
}
