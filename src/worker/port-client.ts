import type { Transferable } from 'node:worker_threads';
import { Outbox } from './outbox.js';
import type { OwnerMessage, SpelledError, ThreadMessage } from './thread-protocol.js';

/** A thread, or one end of a channel to it. */
export interface CalledPort {
  postMessage(messages: readonly unknown[], transfer: readonly Transferable[]): void;
  on(event: 'message', listener: (messages: readonly ThreadMessage[]) => void): unknown;
}

export interface PortOptions {
  /** Makes an error of this side's classes from one that crossed. */
  readonly revive: (error: SpelledError) => Error;
  readonly onNotice: (notice: string, value: unknown) => void;
}

export interface CallOptions {
  /**
   * Buffers and ports in the arguments that are handed over. Calls with some go together at the end of the turn, others at
   * once.
   */
  readonly transfer?: readonly Transferable[];
  /** Ends when nobody waits for the answer any more, which comes nevertheless; the method is given such a signal, too. */
  readonly abort?: AbortSignal | undefined;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls what another thread offers with `serve`, and hears its notices, in the order in which they were said. */
export class PortClient {
  readonly #options: PortOptions;
  readonly #outbox: Outbox<OwnerMessage>;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: Error | null = null;

  constructor(port: CalledPort, options: PortOptions) {
    this.#options = options;
    this.#outbox = new Outbox(port);
    port.on('message', (messages) => {
      for (const message of messages) this.#receive(message);
    });
  }

  /** Why nothing is answered any more; null as long as calls are. */
  get ended(): Error | null {
    return this.#ended;
  }

  /** Calls not answered yet. */
  get underWay(): number {
    return this.#pending.size;
  }

  /** @throws what the method threw, revived; the signal's reason where it had ended before */
  async call<T>(
    method: string,
    args: readonly unknown[],
    { transfer = [], abort }: CallOptions = {},
  ): Promise<T> {
    if (this.#ended !== null) throw this.#ended;
    abort?.throwIfAborted();
    const id = this.#nextId++;
    const isUrgent = transfer.length === 0;
    const mayBeAbandoned = abort !== undefined;
    const abandon = (): void => {
      this.#outbox.post({ kind: 'abandon', id }, [], true);
    };
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
        this.#outbox.post({ kind: 'call', id, method, args, mayBeAbandoned, isUrgent }, transfer, isUrgent);
        abort?.addEventListener('abort', abandon, { once: true });
      });
    } finally {
      abort?.removeEventListener('abort', abandon);
    }
  }

  /** Nothing is answered any more: calls fail with this, those under way too. */
  end(reason: Error): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }

  #receive(message: ThreadMessage): void {
    if (message.kind === 'notice') {
      this.#options.onNotice(message.notice, message.value);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'value') pending?.resolve(message.value);
    else pending?.reject(this.#options.revive(message.error));
  }
}
