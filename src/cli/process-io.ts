import type { CliIo } from './io.js';

/** What `jackdaw run` may use beside what every command may: signals, and the log on standard error. */
export interface ProcessIo extends CliIo {
  /** Whether standard output is a terminal: a person reads it now. */
  readonly isTerminal: boolean;
  /** Whether standard error is a terminal: logs are then written for people. */
  readonly isLogTerminal: boolean;
  /** Writes to standard error as it is. */
  log(text: string): void;
  /** Calls back at every SIGINT and SIGTERM. @returns a function that ends it */
  onSignal(listener: (name: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Calls back at every SIGHUP, which then does not end the process. @returns a function that ends it */
  onHangup(listener: () => void): () => void;
  /** Calls back at every error that nobody caught; who listens decides whether the process goes on. @returns a function that ends it */
  onUncaught(listener: (error: unknown) => void): () => void;
  /** Ends the process now, whatever is in progress. */
  exitNow(code: number): void;
}
