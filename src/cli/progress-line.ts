import type { ProcessIo } from './io.js';

/** A status line on standard error that is rewritten in place on a terminal; elsewhere it prints nothing. */
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

  /** Call it before writing anything else. */
  clear(): void {
    if (this.#isShown) this.#io.log('\r\x1b[K');
    this.#isShown = false;
  }
}
