import type { LogRecord } from '../../signal/log-record.js';
import type { ArrivalListener, ChangeFeed } from '../contracts/telemetry-writer.js';

/** Notifies the listeners after the commit. */
type Notify = () => void;

/** Listeners by user, and the notifications of a write. */
export class LocalChangeFeed implements ChangeFeed {
  readonly #listeners = new Map<string, Set<ArrivalListener>>();
  readonly #watchers = new Set<(userIds: readonly string[]) => void>();

  watch(userId: string, listener: ArrivalListener): () => void {
    const id = userId.toLowerCase();
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    if (listener.logs !== undefined) this.#changed();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(id) === listeners) this.#listeners.delete(id);
      if (listener.logs !== undefined) this.#changed();
    };
  }

  /** See `EncodedWrites.watchLogListeners`. */
  watchLogListeners(changed: (userIds: readonly string[]) => void): () => void {
    this.#watchers.add(changed);
    changed(this.#usersOfLogs());
    return () => {
      this.#watchers.delete(changed);
    };
  }

  #changed(): void {
    if (this.#watchers.size === 0) return;
    const users = this.#usersOfLogs();
    for (const changed of this.#watchers) changed(users);
  }

  #usersOfLogs(): readonly string[] {
    return [...this.#listeners].flatMap(([id, listeners]) =>
      [...listeners].some(({ logs }) => logs !== undefined) ? id : [],
    );
  }

  /** @param traceIds called only if there are listeners @returns undefined without listeners */
  tracesOf(tenant: string, traceIds: () => Iterable<string>): Notify | undefined {
    const listeners = this.#listeners.get(tenant);
    if (listeners === undefined) return undefined;
    const ids = new Set(traceIds());
    return () => {
      for (const listener of listeners) listener.traces?.(ids);
    };
  }

  /** @param unseen number of records that are not in the list @returns undefined without listeners, or if none wants these records */
  logsOf(tenant: string, records: readonly LogRecord[], unseen = 0): Notify | undefined {
    const listeners = this.#listeners.get(tenant);
    if (listeners === undefined) return undefined;
    const kept = [...listeners].flatMap((listener) => listener.logs?.(records, unseen) ?? []);
    if (kept.length === 0) return undefined;
    return () => {
      for (const notify of kept) notify();
    };
  }

  /** Notifies listeners of a change of a run outside of a batch. */
  traceChanged(userId: string, traceId: string): void {
    const listeners = this.#listeners.get(userId.toLowerCase());
    if (listeners === undefined) return;
    const ids = new Set([traceId.toLowerCase()]);
    for (const listener of listeners) listener.traces?.(ids);
  }
}
