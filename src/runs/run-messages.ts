import type { SpanVerdict } from './rules/verdicts.js';
import type { Micros } from '../signal/time.js';
import type { NamedHeader } from './rules/following-header.js';
import type { FactRow } from './rules/rows.js';

/** A fact about a run, in addition to its spans: the run is derived from both. */
export type RunMessage = HeaderMessage | OutcomeMessage | VerdictMessage | TimeoutMessage | LinkMessage;

/** The order of a message among the messages of all runs; unique. */
interface Ordered {
  readonly order: number;
}

/** A header as sent. Spans sent with it have the same order. */
export interface HeaderMessage extends Ordered {
  readonly kind: 'header';
  readonly receivedAt: Micros;
  readonly named: NamedHeader;
  /** Whether nodes of the service map were derived from its spans. */
  readonly isMapped: boolean;
}

/** The outcome set by the run's owner. Counts only for an existing run. */
interface OutcomeMessage extends Ordered {
  readonly kind: 'outcome';
  readonly success: boolean;
  /** Null to leave it unchanged. */
  readonly outcome: string | null;
}

/** Ignored if the run has a success of its own, or a newer verdict. */
interface VerdictMessage extends SpanVerdict, Ordered {
  readonly kind: 'verdict';
}

/** The run was idle for too long. Ignored if newer data arrived before this message. */
interface TimeoutMessage extends Ordered {
  readonly kind: 'timeout';
  readonly at: Micros;
}

/** A prompt version was linked to the run or to one of its spans. The run may arrive later. */
interface LinkMessage extends Ordered {
  readonly kind: 'link';
  readonly promptNo: number;
}

/** A span in a message. */
export interface SpanFact extends Ordered {
  readonly row: FactRow;
  /** The node's number in the service map, `NO_NODE` or `AGENT_NODE`. */
  readonly node: number;
}
