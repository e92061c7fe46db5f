import type { Micros } from '../signal/time.js';
import type { NamedHeader } from './rules/following-header.js';
import type { FactRow } from './rules/rows.js';

/** What came of a run, or was found out about it: the facts from which it follows, beside those of its spans. */
export type RunMessage = HeaderMessage | OutcomeMessage | TimeoutMessage | LinkMessage;

/** The order in which the messages of all runs count; each has a number of its own. */
interface Ordered {
  readonly order: number;
}

/** A header as a sender gave it. Spans that came with it have its number. */
export interface HeaderMessage extends Ordered {
  readonly kind: 'header';
  readonly receivedAt: Micros;
  readonly named: NamedHeader;
  /** Whether nodes of the service map were derived from its spans. */
  readonly isMapped: boolean;
}

/** What the run's owner says about its success. Counts only for a run that exists. */
interface OutcomeMessage extends Ordered {
  readonly kind: 'outcome';
  readonly success: boolean;
  /** Null: it stays as it was. */
  readonly outcome: string | null;
}

/** The run was found to be idle for too long. Counts only while it is open, until something new comes. */
interface TimeoutMessage extends Ordered {
  readonly kind: 'timeout';
}

/** A prompt version was linked to the run, or to a span of it. The run may come later. */
interface LinkMessage extends Ordered {
  readonly kind: 'link';
  readonly promptNo: number;
}

/** A span as a message brought it. */
export interface SpanFact extends Ordered {
  readonly row: FactRow;
  /** The number of its node in the service map, `NO_NODE` or `AGENT_NODE`. */
  readonly node: number;
}
