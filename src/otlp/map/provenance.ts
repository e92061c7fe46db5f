import type { SpanRecord } from '../../signal/span.js';
import type { Field } from './conventions/convention.js';
import type { OwnAttributes } from './own-attributes.js';

/** What of a span a rule decides, so that it is not simply what the best source of one field says. */
export type Told =
  | 'type'
  | 'name'
  | 'status'
  | 'error_message'
  | 'agent'
  | 'input_tokens'
  | 'output_tokens'
  | 'total_tokens'
  | 'cost_usd'
  | 'input_data'
  | 'output_data';

/** On what a value rests: the field from whose source it comes, or the rule in some words. */
export type Ground = Field | `${string} ${string}`;

/** Says of a span which attribute each field has its value from. */
export interface Sources {
  /** @returns its key, of a list in parts what the keys begin with; empty where no attribute says anything of the field */
  source(field: Field): string;
}

/** Follows how spans are read, for those who want to know why Jackdaw shows what it shows (`jackdaw explain`). */
export interface Provenance {
  /** @param ground of one value the last counts */
  told(what: Told, ground: Ground): void;
  /** @param key of the attribute that a payload comes from, as {@link Sources} gives it */
  found(what: 'input_data' | 'output_data', key: string): void;
  /**
   * A span was read.
   *
   * @param sources hold until the next span is read
   * @param own Jackdaw's own attributes of the span, which win over everything
   */
  read(span: SpanRecord, sources: Sources, own: OwnAttributes | undefined): void;
}
