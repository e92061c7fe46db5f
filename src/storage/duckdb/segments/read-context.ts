import type { Read } from './read.js';

/** A user that asks, and its ways to the tables. */
export interface ReadContext {
  /** Its number. */
  readonly tenant: number;
  /** For a read that looks at little. */
  readonly short: Read;
  /** For one that may look through much. */
  readonly long: Read;
}

/** What the store thread offers of a contract all of whose methods are reads: who asks is told in place of the user's id. */
export type Served<Contract> = {
  readonly [Method in keyof Contract]: Contract[Method] extends (
    userId: string,
    ...args: infer Args
  ) => Promise<infer Answer>
    ? (by: ReadContext, ...args: Args) => Answer | Promise<Answer>
    : never;
};
