import { NumberedChanges } from '../shared/numbered-changes.js';

/** Maximum number of changes kept: about 100 bytes each. */
const MOST_CHANGES = 4000;
/** Changes per page. */
const PAGE_SIZE = 200;

/** Prefix that no id has, followed by the number of changes with unknown ids. */
const LOSS = '!';

/** Changes after a number. */
interface Changed {
  readonly ids: readonly string[];
  /** The number of the last one. */
  readonly next: number;
  /** Number of changes that were dropped. */
  readonly lost: number;
}

/** Recently changed ids, for readers that wait for changes. */
export class ChangedIds {
  readonly #changes = new NumberedChanges(MOST_CHANGES);
  readonly #listeners = new Set<() => void>();
  #losses = 0;

  note(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const id of ids) this.#changes.add(id);
    this.#notify();
  }

  /** Counts changes with unknown ids. */
  lose(count: number): void {
    if (count === 0) return;
    this.#losses += 1;
    this.#changes.add(`${LOSS}${String(count)} ${String(this.#losses)}`);
    this.#notify();
  }

  /** The first page of changes after a number. @param after null: returns only the current position */
  since(after: number | null): Changed {
    const { last, forgotten } = this.#changes;
    if (after === null || after >= last) return { ids: [], next: last, lost: 0 };
    const some = this.#changes.since(after).slice(0, PAGE_SIZE);
    const ids = some.map(({ id }) => id);
    const lost = ids
      .filter((id) => id.startsWith(LOSS))
      .reduce((sum, id) => sum + Number.parseInt(id.slice(LOSS.length), 10), Math.max(0, forgotten - after));
    return { ids: ids.filter((id) => !id.startsWith(LOSS)), next: some.at(-1)?.number ?? last, lost };
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** @param listener is called after each change @returns a function that stops watching */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
