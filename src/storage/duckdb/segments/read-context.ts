import type { Read } from './read.js';

/** The tenant of a read, and its read functions. */
export interface ReadContext {
  /** The tenant number. */
  readonly tenant: number;
  /** For reads of little data. */
  readonly short: Read;
  /** For reads that may scan a lot of data. */
  readonly long: Read;
}

/** A read-only contract as the store thread serves it, with a read context in place of the user id. */
export type Served<Contract> = {
  readonly [Method in keyof Contract]: Contract[Method] extends (
    userId: string,
    ...args: infer Args
  ) => Promise<infer Answer>
    ? (by: ReadContext, ...args: Args) => Answer | Promise<Answer>
    : never;
};
