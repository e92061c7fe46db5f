import { Worker, type Transferable } from 'node:worker_threads';
import { PortClient, type CallOptions, type PortOptions } from './port-client.js';
import { threadArgv } from './thread-argv.js';

export interface ThreadOptions extends PortOptions {
  /** The compiled module that runs in the thread. */
  readonly module: URL;
  readonly name: string;
  readonly workerData: unknown;
  /** Ports in `workerData` that are handed over. */
  readonly transferList?: readonly Transferable[];
  /** Makes the error with which calls fail when the thread has ended for this reason. */
  readonly ended: (reason: Error) => Error;
  /** Called when the thread ended although nobody asked it to. */
  readonly onCrash: (error: Error) => void;
}

/** A worker thread that answers calls. When it ends, all calls in progress fail with the reason. */
export class ThreadClient {
  readonly #worker: Worker;
  readonly #calls: PortClient;
  readonly #options: ThreadOptions;
  #isClosing = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
    const { module, name, workerData, transferList } = options;
    this.#worker = new Worker(module, {
      name,
      workerData,
      ...(transferList && { transferList: [...transferList] }),
      ...threadArgv(),
    });
    this.#calls = new PortClient(this.#worker, options);
    this.#worker.on('error', (error) => {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    });
    this.#worker.on('exit', (code) => {
      this.#end(new Error(`the thread ${options.name} ended with code ${code}`));
    });
  }

  get hasEnded(): boolean {
    return this.#calls.ended !== null;
  }

  /** How many calls have not been answered yet. */
  get underWay(): number {
    return this.#calls.underWay;
  }

  /** See `PortClient.call`. */
  async call<T>(method: string, args: readonly unknown[], options: CallOptions = {}): Promise<T> {
    return await this.#calls.call(method, args, options);
  }

  /** Ends the thread at once. Calls that it has not answered fail. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    if (this.hasEnded) return;
    this.#calls.end(this.#options.ended(error));
    if (!this.#isClosing) this.#options.onCrash(error);
  }
}
