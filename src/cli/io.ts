/** The parts of the process that a command may use. */
export interface CliIo {
  /** Writes one or more lines to standard output and adds the final line end. */
  out(text: string): void;
  /** Writes to standard error: everything except the requested result. */
  err(text: string): void;
  /** Standard input. Call it only once. */
  input(): AsyncIterable<Uint8Array | string>;
  readonly env: NodeJS.ProcessEnv;
}

/** Additional access for `jackdaw run`: signals, and the log on standard error. */
export interface ProcessIo extends CliIo {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Characters in a line of that terminal, if known. */
  readonly width?: number | undefined;
  /** Whether standard error is a terminal: logs are then human-readable. */
  readonly isLogTerminal: boolean;
  /** Writes to standard error unchanged. */
  log(text: string): void;
  /**
   * Calls back on every SIGINT and SIGTERM.
   *
   * @returns a function that removes the listener
   */
  onSignal(listener: (name: 'SIGINT' | 'SIGTERM') => void): () => void;
  /**
   * Calls back on every SIGHUP, which then does not end the process.
   *
   * @returns a function that removes the listener
   */
  onHangup(listener: () => void): () => void;
  /**
   * Calls back on every uncaught error; the listener decides whether the process continues.
   *
   * @returns a function that removes the listener
   */
  onUncaught(listener: (error: unknown) => void): () => void;
  /** Ends the process immediately, even if work is in progress. */
  exitNow(code: number): void;
}
