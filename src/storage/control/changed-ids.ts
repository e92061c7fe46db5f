import { NumberedChanges } from '../numbered-changes.js';

/** Changes that are remembered: some 100 bytes each. */
const MOST_CHANGES = 4000;
/** How many are given at a time. */
const PAGE_SIZE = 200;

/** What is known of changes since a number. */
interface Changed {
  readonly ids: readonly string[];
  /** The number of the last one. */
  readonly next: number;
  /** How many were forgotten. */
  readonly lost: number;
}

/** Which of something this process changed lately, for those who wait for it. */
export class ChangedIds {
  readonly #changes = new NumberedChanges(MOST_CHANGES);
  readonly #listeners = new Set<() => void>();

  note(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const id of ids) this.#changes.add(id);
    for (const listener of this.#listeners) listener();
  }

  /** The first of those that changed after a number. @param after null: none, only where one is */
  since(after: number | null): Changed {
    const { last, forgotten } = this.#changes;
    if (after === null || after >= last) return { ids: [], next: last, lost: 0 };
    const some = this.#changes.since(after).slice(0, PAGE_SIZE);
    const lost = Math.max(0, forgotten - after);
    return { ids: some.map(({ id }) => id), next: some.at(-1)?.number ?? last, lost };
  }

  /** @param listener is called after each change @returns what ends it */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
