/** What a command may touch of the process it runs in. */
export interface CliIo {
  /** Writes one or several lines to standard output; the last line's end is added. */
  out(text: string): void;
  /** The same to standard error: everything that is not the result asked for. */
  err(text: string): void;
  /** What comes on standard input. To be asked for once. */
  input(): AsyncIterable<Uint8Array | string>;
  readonly env: NodeJS.ProcessEnv;
}
