import { move, Piscina, transferableSymbol, valueSymbol } from 'piscina';
import { threadArgv } from './thread-argv.js';

export interface PoolOptions {
  /** Of the compiled module whose default export does the tasks, in the threads. */
  readonly module: URL;
  readonly threads: number;
  /**
   * Tasks that a thread has at once: the one that it does, and others that lie ready, so that it need not wait until this
   * thread hears of an answer.
   */
  readonly depth: number;
  /** A thread ended that had nothing to do. (Otherwise its task fails with the reason.) */
  readonly onIdleCrash: (error: Error) => void;
}

/**
 * A few threads that do tasks, one at a time each. Buffers are handed over, not copied. A thread that ends, for whatever
 * reason, fails the tasks that it has and is replaced. Who has more tasks than the threads take keeps them in a queue of
 * its own, because only it knows which of them go together.
 */
export class WorkerPool<Task, Answer> {
  readonly #options: PoolOptions;
  #piscina: Piscina<Task, Answer> | null = null;
  #underWay = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Whether a thread has nothing to do. */
  get hasFreeThread(): boolean {
    return this.#underWay < this.#options.threads;
  }

  /** Whether a thread takes a task now. */
  get hasRoom(): boolean {
    return this.#underWay < this.#options.threads * this.#options.depth;
  }

  /**
   * @param buffers in the task that are handed over
   * @throws what the module threw, or why the thread ended
   */
  async run(task: Task, buffers: readonly ArrayBuffer[]): Promise<Answer> {
    if (this.#isClosed) throw new Error('the threads are closed');
    this.#underWay++;
    try {
      this.#piscina ??= this.#open();
      return await this.#piscina.run(task, { transferList: [...buffers] });
    } finally {
      this.#underWay--;
    }
  }

  /** Ends the threads at once. What they have not done fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#piscina?.destroy();
  }

  #open(): Piscina<Task, Answer> {
    const { module, threads, depth, onIdleCrash } = this.#options;
    const piscina = new Piscina<Task, Answer>({
      filename: module.href,
      minThreads: threads,
      maxThreads: threads,
      maxQueue: threads * depth,
      concurrentTasksPerWorker: depth,
      recordTiming: false,
      ...threadArgv(),
    });
    piscina.on('error', onIdleCrash);
    piscina.on('workerDestroy', () => {
      // It replaces what ended in the same turn, save where a thread ended before it was ready: then it never again
      // does, and tasks that wait for that thread would wait for ever.
      setImmediate(() => {
        if (piscina !== this.#piscina || this.#isClosed || piscina.threads.length >= threads) return;
        this.#piscina = null;
        void piscina.destroy();
      });
    });
    return piscina;
  }
}

/** What a task's function returns to hand the buffers in its answer over. */
export function handOver(answer: object, buffers: readonly ArrayBuffer[]): unknown {
  return move({ [transferableSymbol]: buffers, [valueSymbol]: answer });
}
