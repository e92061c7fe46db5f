import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import type { Counted } from '../../incoming/counted.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { Rows } from './rows.js';

/** A batch of traces. */
export interface BatchChange {
  readonly kind: 'batch';
  readonly batch: IncomingBatch;
}

/** A change of a stored header that the trace's owner asked for. */
export interface OutcomeChange {
  readonly kind: 'outcome';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  readonly success: boolean;
  readonly outcome: string | undefined;
}

/** A run that is to count as timed out, unless something of it came meanwhile. */
export interface TimeoutChange {
  readonly kind: 'timeout';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  /** The commit of the newest header when it was found to be idle. */
  readonly seq: number;
  /** The types of events that somebody wants of its user: the time-out may make its agent certain. */
  readonly wanted: readonly EventType[];
}

/** A stored trace whose nodes of the service map are to be derived again. */
export interface RemapChange {
  readonly kind: 'remap';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/** A stored run whose header is to stop following its spans. */
export interface TruncateChange {
  readonly kind: 'truncate';
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/**
 * From a batch that waits, the spans that complete stored ones, or some of them, to be committed before the batch. To complete a
 * span twice changes nothing, so the batch finds these done and has less left to do. Nothing else of the batch is written, and
 * nobody is answered: if the process dies before the batch itself is committed, its sender has no answer and sends it again.
 */
export interface AheadChange {
  readonly kind: 'ahead';
  readonly batch: IncomingBatch;
  /** The traces concerned, by position in the batch; for each, the row before which its spans count. */
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

/** Rows that touch nothing stored: metric points, log records. */
export interface Append {
  /** The size of the encoded batch, by which a segment is sealed. */
  readonly bytes: number;
  /** How much its rows count towards the limit of a group. */
  readonly weight: number;
  readonly counted: Counted | null;
  /** How many items were among the rows that {@link rows} gave last: metric points, log records. */
  readonly items: number;
  /**
   * The rows to write in the commit `seq`. Called between commits, once for each try. What it changes in memory holds only after
   * {@link committed}; {@link rolledBack} undoes it.
   */
  rows(seq: number): readonly Rows[];
  committed(): void;
  /** Its memory, of which nothing is used after {@link committed}. */
  readonly buffers: readonly ArrayBuffer[];
  /** Also called when the commit failed before {@link rows}. */
  rolledBack(): void;
}

interface AppendChange {
  readonly kind: 'append';
  readonly append: Append;
}

/** A change of a single trace. */
export type SingleTraceChange = OutcomeChange | TimeoutChange | RemapChange | TruncateChange | LinkChange;
/** A change of traces. */
export type TraceChange = BatchChange | AheadChange | SingleTraceChange;
export type Change = TraceChange | AppendChange;

/** How much a change counts towards the limit of a group: about the rows that it brings. */
export function weightOf(change: Change): number {
  switch (change.kind) {
    case 'append':
      return change.append.weight;
    case 'batch':
      return change.batch.spans.rows + change.batch.traces.rows;
    case 'ahead':
    case 'outcome':
    case 'timeout':
    case 'remap':
    case 'truncate':
    case 'link':
      return 1;
  }
}
