import type { SpanFacts, SpanRow } from '../trace-rows.js';

/** A span of a trace that a commit touches. */
export interface SpanState extends SpanFacts {
  /** Where the newest stored version lies: the commit and the line of the payload; 0 for a span that is new. */
  seq: number;
  line: number;
  /** The whole span; undefined where it is stored and has not been read, or is written from the sender's columns. */
  row: SpanRow | undefined;
  /** Its line of the payload; undefined likewise. */
  payload: string | undefined;
  changed: boolean;
  node: number;
}
