import type { CliIo } from './io.js';

/** Additional access for `jackdaw run`: signals, and the log on standard error. */
export interface ProcessIo extends CliIo {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether standard error is a terminal: logs are then written for people. */
  readonly isLogTerminal: boolean;
  /** Writes to standard error unchanged. */
  log(text: string): void;
  /** Calls back at every SIGINT and SIGTERM. @returns a function that ends it */
  onSignal(listener: (name: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Calls back at every SIGHUP, which then does not end the process. @returns a function that ends it */
  onHangup(listener: () => void): () => void;
  /**
   * Calls back on every uncaught error; the listener decides whether the process continues. @returns a function that removes the
   * listener
   */
  onUncaught(listener: (error: unknown) => void): () => void;
  /** Ends the process immediately. */
  exitNow(code: number): void;
}
