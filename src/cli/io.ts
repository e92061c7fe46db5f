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
