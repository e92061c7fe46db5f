import type { Clock } from '../../../component/telemetry.js';
import type { Topic, Watch } from '../../../storage/contracts/coordination.js';

/** Polling interval in case a hint is lost. */
const ASK_MS = 30_000;
/** Changes within this time are read together. */
const WAIT_MS = 250;

/** Objects of users whose changes are read from a position of the control store. */
export interface FollowedObjects<Change extends { readonly userId: string }, Position> {
  readonly watch: Watch;
  /** Hints at changes. */
  readonly topic: Topic;
  /** @param since null returns the current position only */
  read(since: Position | null): Promise<{
    readonly changes: readonly Change[];
    readonly position: Position;
    /** Whether more changes follow the position. */
    readonly hasMore: boolean;
  }>;
}

/** Changes of users' objects. They are read once for all streams, and only while one listens. */
export class FollowedChanges<Change extends { readonly userId: string }, Position> {
  readonly #followed: FollowedObjects<Change, Position>;
  readonly #clock: Clock;
  readonly #listeners = new Map<string, Set<(change: Change) => void>>();
  #position: Position | null = null;
  #isReading = false;
  /** Whether a hint arrived after the current read began. */
  #isHinted = false;
  #cancel: () => void = () => undefined;
  #unwatch: () => void = () => undefined;

  constructor(followed: FollowedObjects<Change, Position>, clock: Clock) {
    this.#followed = followed;
    this.#clock = clock;
  }

  /** @returns a function that ends it */
  enter(userId: string, notify: (change: Change) => void): () => void {
    const isFirst = this.#listeners.size === 0;
    const ofUser = this.#listeners.get(userId) ?? new Set<(change: Change) => void>();
    this.#listeners.set(userId, ofUser.add(notify));
    if (isFirst) this.#begin();
    return () => {
      ofUser.delete(notify);
      if (ofUser.size === 0 && this.#listeners.get(userId) === ofUser) this.#listeners.delete(userId);
      if (this.#listeners.size === 0) this.#end();
    };
  }

  #begin(): void {
    this.#position = null;
    this.#isHinted = false;
    this.#unwatch = this.#followed.watch.watch(this.#followed.topic, () => {
      this.#scheduleRead();
    });
    this.#readIn(0);
  }

  #end(): void {
    this.#unwatch();
    this.#cancel();
  }

  /** Further hints do not postpone the read. */
  #scheduleRead(): void {
    if (this.#isHinted) return;
    this.#isHinted = true;
    if (!this.#isReading) this.#readIn(WAIT_MS);
  }

  #readIn(ms: number): void {
    this.#cancel();
    this.#cancel = this.#clock.after(ms, () => void this.#read());
  }

  #nextMs(): number {
    return this.#isHinted ? WAIT_MS : ASK_MS;
  }

  async #read(): Promise<void> {
    // A read started for an earlier listener is still running.
    if (this.#isReading) return;
    this.#isReading = true;
    this.#isHinted = false;
    try {
      const since = this.#position;
      const { changes, position, hasMore } = await this.#followed.read(since);
      this.#position = position;
      this.#isHinted ||= hasMore;
      // The first read only determines the current position.
      if (since === null) return;
      for (const change of changes)
        for (const notify of this.#listeners.get(change.userId) ?? []) notify(change);
    } catch {
      // The store cannot be read; retry later.
    } finally {
      this.#isReading = false;
      if (this.#listeners.size > 0) this.#readIn(this.#nextMs());
    }
  }
}
