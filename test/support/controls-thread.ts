import { MessageChannel } from 'node:worker_threads';
import type { Test } from 'tap';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import { connectControl } from '../../src/storage/control/control-client.js';
import { ThreadClient } from '../../src/worker/thread-client.js';
import { plainError } from '../../src/worker/thread-protocol.js';
import { SharedClock } from './shared-clock.js';

/** A thread for the control stores of a test file: one per test would take longer than the tests. */
export class ControlsThread {
  readonly #thread: ThreadClient;

  private constructor(thread: ThreadClient) {
    this.#thread = thread;
  }

  static start(t: Test): ControlsThread {
    const thread = new ThreadClient({
      module: new URL('./controls-thread-app.js', import.meta.url),
      name: 'controls',
      workerData: null,
      deserializeError: plainError,
      ended: (reason) => reason,
      onCrash: (error) => {
        throw error;
      },
      onNotice: () => undefined,
    });
    t.teardown(() => thread.close());
    return new ControlsThread(thread);
  }

  /** Opens a SQLite store there, with a clock set from here. */
  async open(t: Test, path: string): Promise<OpenedThere> {
    const opened = new OpenedThere(t, this.#thread, path);
    await opened.reopen();
    return opened;
  }
}

class OpenedThere {
  readonly clock = new SharedClock();
  readonly #t: Test;
  readonly #thread: ThreadClient;
  readonly #path: string;
  #store: ControlStore | null = null;

  constructor(t: Test, thread: ThreadClient, path: string) {
    this.#t = t;
    this.#thread = thread;
    this.#path = path;
    t.teardown(() => thread.call('close', [path]));
  }

  get store(): ControlStore {
    if (this.#store === null) throw new Error('it was not opened');
    return this.#store;
  }

  async reopen(): Promise<ControlStore> {
    await this.#thread.call('open', [this.#path, this.clock.memory]);
    this.#store = await this.another();
    return this.#store;
  }

  /** Over its own port. */
  async another(): Promise<ControlStore> {
    const { port1, port2 } = new MessageChannel();
    await this.#thread.call('connect', [this.#path, port1], { transfer: [port1] });
    const control = await connectControl(port2);
    this.#t.teardown(() => {
      control.close();
    });
    return control;
  }
}
