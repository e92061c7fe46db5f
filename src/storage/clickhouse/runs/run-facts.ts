import type { NamedHeader } from '../../../runs/rules/following-header.js';
import type { SpanRow } from '../../../runs/rules/rows.js';
import type { RunMessage } from '../../../runs/run-messages.js';
import type { Micros } from '../../../signal/time.js';
import type { SentFact } from './effective-spans.js';

/** A message of a run as it is stored. */
export type StoredMessage = StoredHeader | StoredOutcome | StoredTimeout | StoredLink;

interface Ordered {
  readonly order: number;
}

export interface StoredHeader extends Ordered {
  readonly kind: 'header';
  readonly receivedAt: Micros;
  readonly named: NamedHeader;
  readonly isMapped: boolean;
  /** How many spans it brought. */
  readonly spans: number;
  /** In which hours its run may be found, and its spans are. */
  readonly hours: readonly number[];
}

interface StoredOutcome extends Ordered {
  readonly kind: 'outcome';
  readonly success: boolean;
  readonly outcome: string | null;
}

interface StoredTimeout extends Ordered {
  readonly kind: 'timeout';
}

interface StoredLink extends Ordered {
  readonly kind: 'link';
  /** When it was made. */
  readonly at: Micros;
  readonly prompt: number;
}

/** A span as it is after all messages that were known when it was written. */
export interface StoredWhole {
  /** The ticket with which it was made. */
  readonly version: number;
  /** The messages that it was made of; 0 where none completes it. */
  readonly begunBy: number;
  readonly completedBy: number;
  readonly same_as: string | null;
  readonly counted: number | null;
}

/** Everything that is stored of a run. */
export interface RunFacts {
  readonly tenant: number;
  readonly traceId: string;
  /** In their order. */
  readonly messages: readonly StoredMessage[];
  /** Those that messages brought: none of a message that is not among {@link messages}. */
  readonly spans: readonly SentFact<SpanRow>[];
  /** By the ids of the spans. */
  readonly wholes: ReadonlyMap<string, StoredWhole>;
}

/** The messages as `fold` takes them. Links say nothing of the header, so they are left out. */
export function foldedMessages(messages: readonly StoredMessage[]): RunMessage[] {
  return messages.flatMap((message) => (message.kind === 'link' ? [] : message));
}

/** The hours in which the run may be found: those that any of its messages names. */
export function hoursOfRun({ messages }: Pick<RunFacts, 'messages'>): ReadonlySet<number> {
  return new Set(messages.flatMap((message) => (message.kind === 'header' ? message.hours : [])));
}
