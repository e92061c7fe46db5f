import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import type { Charge } from '../../incoming/encode-traces.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { Rows } from './rows.js';

/** A batch of traces. */
export interface BatchChange {
  readonly kind: 'batch';
  readonly batch: IncomingBatch;
}

/** An outcome that the owner of a trace set. */
export interface OutcomeChange {
  readonly kind: 'outcome';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  readonly success: boolean;
  readonly outcome: string | undefined;
}

/** A trace that got a score that decides about its success. Applied whenever the trace is written, so the run may come later. */
export interface JudgeChange {
  readonly kind: 'judge';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/** A run to mark as timed out, unless spans arrived in the meantime. */
export interface TimeoutChange {
  readonly kind: 'timeout';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  /** The commit of its newest header when it was found idle. */
  readonly seq: number;
  /** The subscribed event types of its user: the time-out may confirm its agent. */
  readonly wanted: readonly EventType[];
}

/** A stored trace whose service map nodes are rebuilt. */
export interface RemapChange {
  readonly kind: 'remap';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/** A stored run to truncate: its header stops following its spans. */
export interface TruncateChange {
  readonly kind: 'truncate';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/**
 * Spans of a waiting batch that complete stored ones, committed before the batch. Completing a span twice changes nothing, so the
 * batch then has less left to do. Nothing else of the batch is written, and no sender gets a response: if the process dies before
 * the batch is committed, its sender retries.
 */
export interface AheadChange {
  readonly kind: 'ahead';
  readonly batch: IncomingBatch;
  /** The traces, by position in the batch, each with the row before which its spans are included. */
  readonly traces: ReadonlyMap<number, number>;
}

/** A link between a prompt version and a trace, which may not be stored yet. */
export interface LinkChange {
  readonly kind: 'link';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  readonly promptNo: number;
  /** The span's id in words; null for the trace as a whole. */
  readonly spanWords: Uint32Array | null;
  readonly linkedAt: Micros;
}

/** Rows that do not change stored data: metric points, log records. */
export interface Append {
  /** The size of the encoded batch; counts towards the size of the segment. */
  readonly bytes: number;
  /** Weight of its rows towards the limit of a group. */
  readonly weight: number;
  readonly counted: Charge | null;
  /** Number of items (metric points, log records) in the last result of {@link rows}. */
  readonly items: number;
  /**
   * The rows to write in the commit `seq`. Called between commits, once per attempt. Its changes in memory are final after {@link
   * committed}; {@link rolledBack} reverts them.
   */
  rows(seq: number): readonly Rows[];
  committed(): void;
  /** Its buffers, unused after {@link committed}. */
  readonly buffers: readonly ArrayBuffer[];
  /** Also called when the commit failed before {@link rows}. */
  rolledBack(): void;
}

interface AppendChange {
  readonly kind: 'append';
  readonly append: Append;
}

/** A change of a single trace. */
export type SingleTraceChange =
  OutcomeChange | JudgeChange | TimeoutChange | RemapChange | TruncateChange | LinkChange;
/** A change of traces. */
export type TraceChange = BatchChange | AheadChange | SingleTraceChange;
export type Change = TraceChange | AppendChange;

/** Weight of a change towards the limit of a group: about the number of its rows. */
export function weightOf(change: Change): number {
  switch (change.kind) {
    case 'append':
      return change.append.weight;
    case 'batch':
      return change.batch.spans.rows + change.batch.traces.rows;
    case 'ahead':
    case 'outcome':
    case 'judge':
    case 'timeout':
    case 'remap':
    case 'truncate':
    case 'link':
      return 1;
  }
}
