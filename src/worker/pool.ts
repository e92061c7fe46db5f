import { move, Piscina, transferableSymbol, valueSymbol } from 'piscina';
import { threadArgv } from './thread-argv.js';

export interface PoolOptions {
  /** The compiled module whose default export performs the tasks in the threads. */
  readonly module: URL;
  readonly threads: number;
  /** Called when an idle thread ends unexpectedly. (A thread with a task fails that task with the reason.) */
  readonly onIdleCrash: (error: Error) => void;
}

/**
 * Worker threads that perform tasks, each one at a time. Buffers are transferred, not copied. A thread that ends for any reason
 * fails its task and is replaced. Further tasks wait without a limit: the caller bounds them.
 */
export class WorkerPool<Task, Answer> {
  readonly #options: PoolOptions;
  #piscina: Piscina<Task, Answer> | null = null;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @param buffers in the task that are transferred @throws errors of the module, or the reason why the thread ended */
  async run(task: Task, buffers: readonly ArrayBuffer[]): Promise<Answer> {
    if (this.#isClosed) throw new Error('the threads are closed');
    this.#piscina ??= this.#open();
    return await this.#piscina.run(task, { transferList: [...buffers] });
  }

  /** Ends the threads immediately. Unfinished tasks fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#piscina?.destroy();
  }

  #open(): Piscina<Task, Answer> {
    const { module, threads, onIdleCrash } = this.#options;
    const piscina = new Piscina<Task, Answer>({
      filename: module.href,
      minThreads: threads,
      maxThreads: threads,
      recordTiming: false,
      ...threadArgv(),
    });
    piscina.on('error', onIdleCrash);
    piscina.on('workerDestroy', () => {
      // The pool replaces threads that ended in the same turn, unless a thread ended before it was ready: that one is never
      // replaced, and tasks that wait for it would never end.
      setImmediate(() => {
        if (piscina !== this.#piscina || this.#isClosed || piscina.threads.length >= threads) return;
        this.#piscina = null;
        void piscina.destroy();
      });
    });
    return piscina;
  }
}

/** Returned by a task's function to transfer the buffers in its result. */
export function handOver(answer: object, buffers: readonly ArrayBuffer[]): unknown {
  return move({ [transferableSymbol]: buffers, [valueSymbol]: answer });
}
