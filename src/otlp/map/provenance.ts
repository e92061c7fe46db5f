import type { UsagePart } from '../../signal/call-details.js';
import type { Dimension } from '../../signal/run-context.js';
import type { SpanRecord } from '../../signal/span.js';
import type { Field } from './conventions/convention.js';
import type { OwnAttributes } from './own-attributes.js';

/** Properties of a span that a rule decides, rather than the best source of one field. */
export type DecidedProperty =
  | 'type'
  | 'name'
  | 'status'
  | 'error_message'
  | 'agent'
  | Dimension
  | 'model'
  | 'input_tokens'
  | 'output_tokens'
  | 'total_tokens'
  | 'cost_usd'
  | 'input_data'
  | 'output_data'
  | 'time_to_first_chunk_ms'
  | 'scores'
  | UsagePart;

/** Properties of a span, or of its run, that a known attribute or event gives. */
export type FoundProperty = 'input_data' | 'output_data' | 'success' | 'outcome';

/** The basis of a value: the field whose source it comes from, or a description of the rule. */
export type Ground = Field | `${string} ${string}`;

/** The attribute that sets each field of a span. */
export interface Sources {
  /** @returns the key of the field's source, for a list in parts its prefix; empty if no attribute sets the field */
  source(field: Field): string;
}

/** Records how spans are mapped, to explain the values that Jackdaw shows (`jackdaw explain`). */
export interface Provenance {
  /** @param ground for one value the last call counts */
  decided(what: DecidedProperty, ground: Ground): void;
  /** @param key of the attribute that the value comes from, as {@link Sources} gives it, or the name of an event */
  found(what: FoundProperty, key: string): void;
  /**
   * A span was read.
   *
   * @param sources hold until the next span is read
   * @param own Jackdaw's own attributes of the span, which override all others
   */
  read(span: SpanRecord, sources: Sources, own: OwnAttributes | undefined): void;
}
