import type { Payload } from '../rules/payload.js';
import type { SpanRow } from '../rules/rows.js';
import type { SpanFacts } from '../rules/span-facts.js';

/** A span of a run that a commit touches. */
export interface SpanState extends SpanFacts {
  /** Where the store has the newest version: the commit, and a line in it. The commit is 0 for a new span. */
  seq: number;
  line: number;
  /** The whole span; undefined if it is stored and was not read, or is written from the sender's columns. */
  row: SpanRow | undefined;
  /** Undefined in the same cases. */
  payload: Payload | undefined;
  changed: boolean;
  node: number;
}
