import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FloodName, FloodTarget } from './floods.js';

export type FloodCommand =
  | { readonly kind: 'run'; readonly name: FloodName; readonly target: FloodTarget }
  | { readonly kind: 'stop' };

export interface FloodReport {
  readonly kind: 'done';
  /** What it did and what came of it. */
  readonly did: string;
}

/** A flood in a process of its own, so that it does not share the event loop with who measures. */
export class FloodProcess {
  readonly #child: ChildProcess;
  readonly #done: Promise<string>;

  constructor(name: FloodName, target: FloodTarget) {
    const child = fork(fileURLToPath(new URL('./flood-main.js', import.meta.url)));
    this.#child = child;
    this.#done = new Promise((resolve, reject) => {
      child.once('message', (report) => {
        resolve((report as FloodReport).did);
      });
      child.once('exit', (code) => {
        reject(new Error(`The process that floods ended before its time (exit code ${String(code)}).`));
      });
    });
    this.#done.catch(() => undefined);
    child.send({ kind: 'run', name, target } satisfies FloodCommand);
  }

  /** Resolves when it has done all that it is for; rejects when the process ended before. */
  get done(): Promise<string> {
    return this.#done;
  }

  /** Tells it to stop, and waits for that. @returns what it did */
  async stop(): Promise<string> {
    if (this.#child.connected) this.#child.send({ kind: 'stop' } satisfies FloodCommand);
    return await this.#done;
  }

  /** Ends the process, whatever it does. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
