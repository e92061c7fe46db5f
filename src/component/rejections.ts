import type { Signal } from '../signal/batch.js';
import type { Micros } from '../signal/time.js';
import type { ConsumeErrorCode } from './consume-error.js';

/** One item of a user that was not accepted. It never contains the item's content. */
export interface Rejection {
  readonly at: Micros;
  /** Id of the receiver, as configured. */
  readonly receiver: string;
  readonly signal: Signal;
  /** As it was sent; null if it is missing or was not read. */
  readonly trace_id: string | null;
  /** `validation_failed` if the item itself was refused, otherwise the error code of its batch. */
  readonly code: ConsumeErrorCode;
  /** The error sent to the sender, without values from the item. */
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

/** The stored rejections of a user. */
export interface RememberedRejections {
  /** From then on everything was noted: the start of the daemon, or later where others' had to make room. */
  readonly since: Micros;
  /** The newest first. */
  readonly items: readonly Rejection[];
  readonly counts: readonly RejectedCount[];
}

/** Rejected items of users, kept in memory since the daemon's start, within limits. */
export interface Rejections {
  /** For receivers: records what they refuse before a pipeline gets it. Refusals of pipelines are recorded automatically. */
  note(userId: string, rejected: RejectedItems): void;
  of(userId: string): RememberedRejections;
}
