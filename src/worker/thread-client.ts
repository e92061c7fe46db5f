import { Worker, type ResourceLimits, type Transferable } from 'node:worker_threads';
import { PortClient, type PortOptions } from './port-client.js';
import { threadArgv } from './thread-argv.js';

export interface ThreadOptions extends PortOptions {
  /** The compiled module that runs in the thread. */
  readonly module: URL;
  readonly name: string;
  readonly workerData: unknown;
  /** Ports in `workerData` that are transferred. */
  readonly transferList?: readonly Transferable[];
  readonly resourceLimits?: ResourceLimits;
  /** Creates the error of calls that fail because the thread has ended. */
  readonly ended: (reason: Error) => Error;
  /** Called when the thread ends unexpectedly. */
  readonly onCrash: (error: Error) => void;
}

/** A worker thread that answers calls. When it ends, all calls in progress fail with the reason. */
export class ThreadClient extends PortClient {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  #isClosing = false;

  constructor(options: ThreadOptions) {
    const { module, name, workerData, transferList, resourceLimits } = options;
    const worker = new Worker(module, {
      name,
      workerData,
      ...(resourceLimits && { resourceLimits }),
      ...(transferList && { transferList: [...transferList] }),
      ...threadArgv(),
    });
    super(worker, options);
    this.#options = options;
    this.#worker = worker;
    worker.on('error', (error) => {
      this.#hasExited(error instanceof Error ? error : new Error(String(error)));
    });
    worker.on('exit', (code) => {
      this.#hasExited(new Error(`the thread ${name} ended with code ${code}`));
    });
  }

  get hasEnded(): boolean {
    return this.ended !== null;
  }

  /** Ends the thread as if it had crashed. @param reason for `ended` and `onCrash` */
  abort(reason: Error): void {
    this.#hasExited(reason);
    void this.#worker.terminate();
  }

  /** Ends the thread immediately. Unanswered calls fail. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.terminate();
  }

  #hasExited(error: Error): void {
    if (this.hasEnded) return;
    this.end(this.#options.ended(error));
    if (!this.#isClosing) this.#options.onCrash(error);
  }
}
