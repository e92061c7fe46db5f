import type { Signal } from '../signal/batch.js';
import type { Micros } from '../signal/time.js';
import type { ConsumeErrorCode } from './consume-error.js';

/** One item that a user sent and that was not taken. It never holds what the item held. */
export interface Rejection {
  readonly at: Micros;
  /** Id of the receiver, as configured. */
  readonly receiver: string;
  readonly signal: Signal;
  /** As it was sent; null where there is none, or nobody has read it. */
  readonly trace_id: string | null;
  /** `validation_failed` where the item itself was refused, or why nothing of its batch was taken. */
  readonly code: ConsumeErrorCode;
  /** What the sender was told, without values that it sent. */
  readonly error: string;
}

/** Items of a batch that were not taken, and why. */
export interface RejectedItems extends Pick<Rejection, 'receiver' | 'signal' | 'code'> {
  readonly items: readonly Pick<Rejection, 'trace_id' | 'error'>[];
  /** How many there were, where not all are in `items`. */
  readonly count?: number;
}

/** How many items were not taken on a UTC day. */
export interface RejectedCount {
  /** `2026-11-26` */
  readonly date: string;
  readonly code: ConsumeErrorCode;
  readonly items: number;
}

/** What is remembered of a user's rejections. */
export interface RememberedRejections {
  /** From then on everything was noted: the start of the daemon, or later where others' had to make room. */
  readonly since: Micros;
  /** The newest first. */
  readonly items: readonly Rejection[];
  readonly counts: readonly RejectedCount[];
}

/** What users sent and was not taken, as far as it is remembered: in memory, since the daemon's start. */
export interface Rejections {
  /** For receivers: what they refuse before a pipeline gets it. What a pipeline refuses is noted without them. */
  note(userId: string, rejected: RejectedItems): void;
  of(userId: string): RememberedRejections;
}
