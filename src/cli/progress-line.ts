import type { ProcessIo } from './process-io.js';

/** A line on standard error that is rewritten again and again, if that is a terminal; otherwise nothing. */
export class ProgressLine {
  readonly #io: Pick<ProcessIo, 'log' | 'isLogTerminal'>;
  #isShown = false;

  constructor(io: Pick<ProcessIo, 'log' | 'isLogTerminal'>) {
    this.#io = io;
  }

  show(text: string): void {
    if (!this.#io.isLogTerminal) return;
    this.#io.log(`\r\x1b[K${text}`);
    this.#isShown = true;
  }

  /** To be called before anything else is written. */
  clear(): void {
    if (this.#isShown) this.#io.log('\r\x1b[K');
    this.#isShown = false;
  }
}
