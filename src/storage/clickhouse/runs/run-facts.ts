import type { CountsColumns } from '../../../runs/rules/span-facts.js';
import type { NamedHeader } from '../../../runs/rules/following-header.js';
import type { SpanRow } from '../../../runs/rules/rows.js';
import type { RunMessage, SpanVerdict } from '../../../runs/run-messages.js';
import type { Micros } from '../../../signal/time.js';
import type { SentFact } from './effective-spans.js';

/** A stored message of a run. */
export type StoredMessage = StoredHeader | StoredOutcome | StoredVerdict | StoredTimeout | StoredLink;

interface Ordered {
  readonly order: number;
}

export interface StoredHeader extends Ordered {
  readonly kind: 'header';
  readonly receivedAt: Micros;
  readonly named: NamedHeader;
  readonly isMapped: boolean;
  /** Number of spans in the message. */
  readonly spans: number;
  /** Hours whose rows may contain the run, and those of its spans. */
  readonly hours: readonly number[];
}

interface StoredOutcome extends Ordered {
  readonly kind: 'outcome';
  readonly success: boolean;
  readonly outcome: string | null;
}

interface StoredVerdict extends SpanVerdict, Ordered {
  readonly kind: 'verdict';
}

interface StoredTimeout extends Ordered {
  readonly kind: 'timeout';
  readonly at: Micros;
}

interface StoredLink extends Ordered {
  readonly kind: 'link';
  /** Creation time. */
  readonly at: Micros;
  readonly prompt: number;
}

/** A span after all messages that were stored when it was written. */
export interface StoredWhole extends CountsColumns {
  /** The fence under which it was written. */
  readonly version: number;
  /** The messages that contribute to it; `completedBy` is 0 if none completes it. */
  readonly begunBy: number;
  readonly completedBy: number;
}

/** Everything that is stored of a run. */
export interface RunFacts {
  readonly tenant: number;
  readonly traceId: string;
  /** In their order. */
  readonly messages: readonly StoredMessage[];
  /** Spans of {@link messages} only. */
  readonly spans: readonly SentFact<SpanRow>[];
  /** By the ids of the spans. */
  readonly wholes: ReadonlyMap<string, StoredWhole>;
}

/** The messages for `fold`, without links, which do not affect the header. */
export function foldedMessages(messages: readonly StoredMessage[]): RunMessage[] {
  return messages.flatMap((message) => (message.kind === 'link' ? [] : message));
}

/** The hours whose rows may contain the run, from all its messages. */
export function hoursOfRun({ messages }: Pick<RunFacts, 'messages'>): ReadonlySet<number> {
  return new Set(messages.flatMap((message) => (message.kind === 'header' ? message.hours : [])));
}
