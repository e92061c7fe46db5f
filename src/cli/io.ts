/** What a command may touch of the process it runs in. */
export interface CliIo {
  /** Writes one or several lines to standard output; the last line's end is added. */
  out(text: string): void;
  /** The same to standard error: everything that is not the result asked for. */
  err(text: string): void;
  readonly env: NodeJS.ProcessEnv;
  /** Writes over the last line of a terminal; an empty text clears it. Absent where nobody would see it. */
  readonly progress?: ((text: string) => void) | undefined;
  /** Ends when the user asks the command to end (Ctrl-C). Absent where that cannot happen. */
  readonly interrupted?: AbortSignal | undefined;
}
