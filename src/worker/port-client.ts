import type { Transferable } from 'node:worker_threads';
import { MessageBatcher } from './message-batcher.js';
import type { OwnerMessage, SerializedError, ThreadMessage } from './thread-protocol.js';

/** A thread, or one end of a channel to it. */
export interface CalledPort {
  postMessage(messages: readonly unknown[], transfer: readonly Transferable[]): void;
  on(event: 'message', listener: (messages: readonly ThreadMessage[]) => void): unknown;
}

export interface PortOptions {
  /** Converts a serialized error to an error class of this side. */
  readonly deserializeError: (error: SerializedError) => Error;
  readonly onNotice: (notice: string, value: unknown) => void;
}

export interface CallOptions {
  /**
   * Buffers and ports in the arguments that are transferred. Calls with some are sent together at the end of the turn, others
   * immediately.
   */
  readonly transfer?: readonly Transferable[];
  /** Sends the call with others at the end of the turn, although it transfers nothing. */
  readonly isDeferred?: boolean;
  /** Aborted when the caller no longer needs the answer, which still arrives. The method gets a signal, too. */
  readonly abort?: AbortSignal | undefined;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls methods that another thread offers with `serve`, and passes on its notices in order. */
export class PortClient {
  readonly #options: PortOptions;
  readonly #batcher: MessageBatcher<OwnerMessage>;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: Error | null = null;

  constructor(port: CalledPort, options: PortOptions) {
    this.#options = options;
    this.#batcher = new MessageBatcher(port);
    port.on('message', (messages) => {
      for (const message of messages) this.#receive(message);
    });
  }

  /** The reason why calls are no longer answered; null while they are. */
  get ended(): Error | null {
    return this.#ended;
  }

  /** Number of unanswered calls. */
  get underWay(): number {
    return this.#pending.size;
  }

  /** @throws errors of the method, revived; the signal's reason if it was aborted before */
  async call<T>(
    method: string,
    args: readonly unknown[],
    { transfer = [], abort, isDeferred = false }: CallOptions = {},
  ): Promise<T> {
    if (this.#ended !== null) throw this.#ended;
    abort?.throwIfAborted();
    const id = this.#nextId++;
    const isUrgent = transfer.length === 0 && !isDeferred;
    const mayBeAbandoned = abort !== undefined;
    const abandon = (): void => {
      this.#batcher.post({ kind: 'abandon', id }, [], true);
    };
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
        this.#batcher.post({ kind: 'call', id, method, args, mayBeAbandoned, isUrgent }, transfer, isUrgent);
        abort?.addEventListener('abort', abandon, { once: true });
      });
    } finally {
      abort?.removeEventListener('abort', abandon);
    }
  }

  /** Stops answering calls: all fail with this reason, including those in progress. */
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
    else pending?.reject(this.#options.deserializeError(message.error));
  }
}
