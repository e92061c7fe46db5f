import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadCommand, LoadPlan, LoadReport, LoadResult } from './load-plan.js';

/** Runs the load generator in its own process, so that it does not delay the measurement. */
export class LoadProcess {
  readonly #child;
  readonly #measuring: Promise<void>;
  readonly #result: Promise<LoadResult>;

  #acknowledgedItems = 0;

  private constructor() {
    this.#child = fork(fileURLToPath(new URL('./load-main.js', import.meta.url)));
    const child = this.#child;
    this.#measuring = this.#report('measuring').then(() => undefined);
    this.#result = this.#report('done').then((report) => report.result);
    // Avoids unhandled rejections before a caller awaits them.
    this.#measuring.catch(() => undefined);
    this.#result.catch(() => undefined);
    child.on('message', (message) => {
      const report = message as LoadReport;
      if (report.kind === 'progress') this.#acknowledgedItems = report.acknowledgedItems;
    });
  }

  /** Starts the process and waits until its bodies are built. @throws Error if it exits early */
  static async start(plan: LoadPlan): Promise<LoadProcess> {
    const load = new LoadProcess();
    const ready = load.#report('ready');
    load.#command({ kind: 'prepare', plan });
    await ready;
    return load;
  }

  /** As of the last progress report. */
  get acknowledgedItems(): number {
    return this.#acknowledgedItems;
  }

  /** Starts sending. */
  go(): void {
    this.#command({ kind: 'go' });
  }

  /** Resolves when the warm-up is over. */
  get measuring(): Promise<void> {
    return this.#measuring;
  }

  /** Stops sending early. */
  stop(): void {
    if (this.#child.connected) this.#command({ kind: 'stop' });
  }

  /** Resolves when every request has a response. */
  get result(): Promise<LoadResult> {
    return this.#result;
  }

  /** Kills the process if it is still running. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #command(command: LoadCommand): void {
    this.#child.send(command);
  }

  #report<K extends LoadReport['kind']>(kind: K): Promise<Extract<LoadReport, { kind: K }>> {
    return new Promise((resolve, reject) => {
      this.#child.on('message', (message) => {
        const report = message as LoadReport;
        if (report.kind === kind) resolve(report as Extract<LoadReport, { kind: K }>);
      });
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => {
        reject(new Error(`The load process exited early (${signal ?? `exit code ${String(code)}`}).`));
      });
    });
  }
}
