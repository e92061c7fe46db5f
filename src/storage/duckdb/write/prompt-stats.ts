import { meanCost, MoneySum, type Usd } from '../../../signal/money.js';
import { LruCache } from '../../shared/lru-cache.js';
import type { Read } from '../segments/read.js';
import { KeptDurations } from './kept-durations.js';
import type { LinkedRun } from './linked-run.js';
import { storedPrompts } from './stored-links.js';

/** The stats of a prompt version over the stored traces that used it. */
export interface PromptTotals {
  readonly traces: number;
  readonly successes: number;
  readonly failures: number;
  /** The mean over the traces with a cost, not rounded. */
  readonly meanCost: Usd | null;
  readonly meanDurationMs: number | null;
  readonly p95DurationMs: number | null;
}

interface Change {
  readonly promptNo: number;
  readonly before: LinkedRun | null;
  readonly after: LinkedRun;
}

/** Number of cached versions, and the total number of their durations, at some 12 bytes each. */
const MOST_PROMPTS = 1000;
const MOST_DURATIONS = 4_000_000;

/**
 * LRU cache of prompt version stats, updated with every commit, so that a comparison does not join links with runs in the tables.
 * Stats are loaded on first use.
 */
export class PromptStats {
  readonly #prompts = new LruCache<number, PromptSums>(MOST_PROMPTS);
  /** For each running load, the changes since it began; the loaded data does not contain them. */
  readonly #meanwhile = new Set<Change[]>();
  /** Incremented when links or runs are removed, which invalidates running loads. */
  #age = 0;

  /** Applies a change of a linked trace. @param before null if the trace did not count for the prompt version */
  change(promptNo: number, before: LinkedRun | null, after: LinkedRun): void {
    for (const changes of this.#meanwhile) changes.push({ promptNo, before, after });
    this.#prompts.peek(promptNo)?.change(before, after);
  }

  /** Call after links or runs were removed. */
  clear(): void {
    this.#age++;
    this.#prompts.clear();
  }

  /** The stats of each of the prompt versions. */
  async totals(read: Read, promptNos: readonly number[]): Promise<ReadonlyMap<number, PromptTotals>> {
    const unknown = promptNos.filter((no) => !this.#prompts.has(no));
    const found = new Map<number, PromptSums>();
    if (unknown.length > 0) for (const [no, sums] of await this.#load(read, unknown)) found.set(no, sums);
    for (const no of promptNos) {
      const known = this.#prompts.get(no);
      if (known !== undefined) found.set(no, known);
    }
    // Entries may already be evicted, by this load or by concurrent ones.
    const left = promptNos.filter((no) => !found.has(no));
    if (left.length > 0) for (const [no, sums] of await this.#load(read, left)) found.set(no, sums);
    return new Map([...found].map(([no, sums]) => [no, sums.totals()]));
  }

  /** Loads stats from one snapshot, applies later changes, and caches the result. */
  async #load(read: Read, promptNos: readonly number[]): Promise<Map<number, PromptSums>> {
    return await read(async (connection, capture) => {
      const meanwhile: Change[] = [];
      this.#meanwhile.add(meanwhile);
      const age = this.#age;
      try {
        const loaded = new Map(promptNos.map((no) => [no, new PromptSums()]));
        for await (const links of storedPrompts(connection, capture, promptNos)) {
          for (const { promptNo, run } of links) loaded.get(promptNo)?.change(null, run);
        }
        for (const { promptNo, before, after } of meanwhile) loaded.get(promptNo)?.change(before, after);
        if (age === this.#age) this.#keep(loaded);
        return loaded;
      } finally {
        this.#meanwhile.delete(meanwhile);
      }
    });
  }

  #keep(loaded: ReadonlyMap<number, PromptSums>): void {
    for (const [no, sums] of loaded) this.#prompts.put(no, sums);
    let durations = 0;
    for (const sums of this.#prompts.values()) durations += sums.durations;
    while (durations > MOST_DURATIONS) durations -= this.#prompts.dropOldest()?.durations ?? durations;
  }
}

class PromptSums {
  /** How many durations are kept. */
  get durations(): number {
    return this.#durations.count;
  }

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
      meanCost: meanCost(this.#cost.toNumber(), this.#priced),
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
