import type { LogsBatch, TracesBatch } from '../../signal/batch.js';
import type { ArrivalListener, ChangeFeed } from '../contracts/telemetry-writer.js';

/** Notifies the listeners after the commit. */
type Notify = () => void;

/** Listeners by user, and the notifications of a write. */
export class LocalChangeFeed implements ChangeFeed {
  readonly #listeners = new Map<string, Set<ArrivalListener>>();

  watch(userId: string, listener: ArrivalListener): () => void {
    const id = userId.toLowerCase();
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(id) === listeners) this.#listeners.delete(id);
    };
  }

  /** @returns undefined without listeners */
  tracesOf({ tenant, items }: TracesBatch): Notify | undefined {
    const listeners = this.#listeners.get(tenant);
    if (listeners === undefined) return undefined;
    const ids = new Set(items.map(({ trace }) => trace.trace_id));
    return () => {
      for (const listener of listeners) listener.traces?.(ids);
    };
  }

  /** @returns undefined without listeners, or if none wants these records */
  logsOf({ tenant, items }: LogsBatch): Notify | undefined {
    const listeners = this.#listeners.get(tenant);
    if (listeners === undefined) return undefined;
    const kept = [...listeners].flatMap((listener) => listener.logs?.(items) ?? []);
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
