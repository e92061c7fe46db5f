import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { notOpen } from '../../contracts/errors.js';
import type { ThreadClient } from '../../../worker/thread-client.js';
import type { ControlStore } from '../../contracts/control-store.js';
import type { Observations } from '../read/observations.js';
import type { ReadAnswer, ReadArgs, ReadCall, ReadMethod, ReadPart } from '../thread/store-reads.js';
import type { StoreEngine } from '../thread/store-engine.js';
import type { EngineMethod, LookMethod } from '../thread/store-thread.js';
import type { CallOrder } from '../../shared/call-order.js';
import type { PromptNumbers } from '../../shared/prompt-numbers.js';
import type { KnownUsers, StoreUserLimits } from '../../shared/store-user-limits.js';

/** Users and prompts of the control store, cached. */
interface Known {
  readonly users: KnownUsers;
  readonly prompts: PromptNumbers;
  /** Keeps the writes of a user in order, even if some need a lookup first. */
  readonly order: CallOrder;
}

/** The handles that exist while the store is open. */
export interface Opened {
  readonly thread: ThreadClient;
  readonly known: Known;
  readonly control: ControlStore;
}

/** Connects all parts of the store to its thread and to the control store. */
export class StoreHandle {
  #opened: Opened | null = null;
  /** Running lookups of users in the control store; calls to the thread wait for them. */
  readonly #asking = new Set<Promise<unknown>>();

  open(opened: Opened): void {
    this.#opened = opened;
  }

  close(): void {
    this.#opened = null;
  }

  /** @throws ConsumeError `storage_unavailable` if the store is not open */
  get opened(): Opened {
    if (this.#opened === null) throw notOpen();
    return this.#opened;
  }

  /** The limits of a user for the thread. @throws Error for an unknown user */
  async user(userId: string): Promise<StoreUserLimits> {
    const { users } = this.opened.known;
    const known = users.known(userId);
    if (known !== undefined) return known;
    const asking = users.find(userId);
    this.#asking.add(asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(asking);
    }
  }

  /** Resolves when all earlier calls have been sent to the thread. */
  async sent(): Promise<void> {
    if (this.#opened === null) return;
    await Promise.allSettled([...this.#asking, this.#opened.known.order.sent()]);
    // Callers of the settled lookups continue in this turn of the event loop.
    await turnOfLoop();
  }

  /** Reads for a user. @param abort aborted when the client disconnects */
  async read<Part extends ReadPart, Method extends ReadMethod<Part>>(
    tenant: number,
    part: Part,
    method: Method,
    args: ReadArgs<Part, Method>,
    abort?: AbortSignal,
  ): Promise<ReadAnswer<Part, Method>> {
    const call: ReadCall = { part, method, tenant, args };
    return await this.opened.thread.call<ReadAnswer<Part, Method>>('read', [call], { abort });
  }

  /** Calls a method of the engine. */
  async call<Method extends EngineMethod>(
    method: Method,
    ...args: Parameters<StoreEngine[Method]>
  ): Promise<Awaited<ReturnType<StoreEngine[Method]>>> {
    return await this.opened.thread.call<Awaited<ReturnType<StoreEngine[Method]>>>(method, args);
  }

  /** Calls a method for alerts. */
  async look<Method extends LookMethod>(
    method: Method,
    ...args: Parameters<Observations[Method]>
  ): Promise<Awaited<ReturnType<Observations[Method]>>> {
    return await this.opened.thread.call<Awaited<ReturnType<Observations[Method]>>>(method, args);
  }
}
