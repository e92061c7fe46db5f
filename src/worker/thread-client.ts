import { Worker } from 'node:worker_threads';
import { Outbox } from './outbox.js';
import { threadArgv } from './thread-argv.js';
import type { CallMessage, SpelledError, ThreadMessage } from './thread-protocol.js';

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface ThreadOptions {
  /** Of the compiled module that runs in the thread. */
  readonly module: URL;
  readonly name: string;
  readonly workerData: unknown;
  /** Makes an error of this side's classes from one that crossed. */
  readonly revive: (error: SpelledError) => Error;
  readonly onNotice: (notice: string, value: unknown) => void;
  /** What calls fail with when the thread has ended, for this reason. */
  readonly ended: (reason: Error) => Error;
  /** The thread ended although nobody asked it to. */
  readonly onCrash: (error: Error) => void;
}

/** A worker thread that answers calls. When it ends, all calls under way fail with the reason. */
export class ThreadClient {
  readonly #worker: Worker;
  readonly #outbox: Outbox<CallMessage>;
  readonly #options: ThreadOptions;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: Error | null = null;
  #isClosing = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
    const { module, name, workerData } = options;
    this.#worker = new Worker(module, { name, workerData, ...threadArgv() });
    this.#outbox = new Outbox(this.#worker);
    this.#worker.on('message', (messages: readonly ThreadMessage[]) => {
      for (const message of messages) this.#receive(message);
    });
    this.#worker.on('error', (error) => {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    });
    this.#worker.on('exit', (code) => {
      this.#end(new Error(`the thread ${options.name} ended with code ${code}`));
    });
  }

  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  /** Calls not answered yet. */
  get underWay(): number {
    return this.#pending.size;
  }

  /**
   * @param transfer buffers in `args` that are handed over. Calls with buffers go to the thread together at the end of the
   * turn, others at once
   * @throws what the method threw, revived
   */
  async call<T>(method: string, args: readonly unknown[], transfer: readonly ArrayBuffer[] = []): Promise<T> {
    if (this.#ended !== null) throw this.#ended;
    const id = this.#nextId++;
    const isUrgent = transfer.length === 0;
    const message: CallMessage = { kind: 'call', id, method, args, isUrgent };
    return await new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#outbox.post(message, transfer, isUrgent);
    });
  }

  /** Ends the thread at once. What it has not answered fails. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.terminate();
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

  #end(error: Error): void {
    if (this.#ended !== null) return;
    this.#ended = this.#options.ended(error);
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
    if (!this.#isClosing) this.#options.onCrash(error);
  }
}
