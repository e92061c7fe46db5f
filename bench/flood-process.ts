import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FloodName, FloodTarget } from './floods.js';

export type FloodCommand =
  | { readonly kind: 'run'; readonly name: FloodName; readonly target: FloodTarget }
  | { readonly kind: 'stop' };

export interface FloodReport {
  readonly kind: 'done';
  /** Counts of requests and responses, as text. */
  readonly activity: string;
}

/** Runs a flood in its own process, so that it does not delay the measurement. */
export class FloodProcess {
  readonly #child: ChildProcess;
  readonly #done: Promise<string>;

  constructor(name: FloodName, target: FloodTarget) {
    const child = fork(fileURLToPath(new URL('./flood-main.js', import.meta.url)));
    this.#child = child;
    this.#done = new Promise((resolve, reject) => {
      child.once('message', (report) => {
        resolve((report as FloodReport).activity);
      });
      child.once('exit', (code) => {
        reject(new Error(`The flood process exited early (exit code ${String(code)}).`));
      });
    });
    this.#done.catch(() => undefined);
    child.send({ kind: 'run', name, target } satisfies FloodCommand);
  }

  /** Resolves when everything is sent; rejects if the process exits early. */
  get done(): Promise<string> {
    return this.#done;
  }

  /** Stops the flood. @returns its counts */
  async stop(): Promise<string> {
    if (this.#child.connected) this.#child.send({ kind: 'stop' } satisfies FloodCommand);
    return await this.#done;
  }

  /** Kills the process if it is still running. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
