import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import type { Counted } from '../messages/counted.js';
import type { IncomingBatch } from './incoming-batch.js';
import type { Rows } from './rows.js';

/** A change of a stored header: of a trace, asked for by its owner. */
export interface OutcomeChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  readonly success: boolean;
  readonly outcome: string | undefined;
}

/** A run that is to count as timed out, unless something of it came meanwhile. */
export interface TimeoutChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
  /** The commit of the newest header when it was found to be idle. */
  readonly seq: number;
  /** The events that somebody wants of its tenant: its agent may be certain from here on. */
  readonly wanted: readonly EventType[];
}

/** A stored trace whose nodes of the service map are to be derived anew. */
export interface RemapChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/** A stored run whose header is to follow its spans no more. */
export interface CloseChange {
  readonly tenant: number;
  /** The trace's id in words. */
  readonly words: Uint32Array;
}

/**
 * Of a batch that waits those spans that complete stored ones, or some of them, committed before the batch: to complete a
 * span twice changes nothing, so the batch finds these done and is left with less. Nothing else of the batch is written,
 * and nobody is answered. When the process dies before the batch is committed its sender has no answer and sends it again.
 */
export interface AheadChange {
  readonly batch: IncomingBatch;
  /** By their positions in the batch: the row of the trace before which its spans count. */
  readonly traces: ReadonlyMap<number, number>;
}

/** A link between a prompt version and a trace, which may not be stored yet. */
export interface LinkChange {
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
  /** Of the encoded batch: a segment is sealed at so many. */
  readonly bytes: number;
  /** How many rows weigh in a group, which is limited by them. */
  readonly weight: number;
  readonly counted: Counted | null;
  /** How many of its rows the last {@link rows} gave: metric points, log records. */
  readonly events: number;
  /**
   * The rows to write in the commit `seq`. Called between commits, once for each try; what it changes in memory holds
   * only after {@link committed} and is taken back by {@link rolledBack}.
   */
  rows(seq: number): readonly Rows[];
  committed(): void;
  /** Also called when the commit failed before {@link rows}. */
  rolledBack(): void;
}

export type Change =
  | { readonly batch: IncomingBatch }
  | { readonly outcome: OutcomeChange }
  | { readonly timeout: TimeoutChange }
  | { readonly remap: RemapChange }
  | { readonly close: CloseChange }
  | { readonly ahead: AheadChange }
  | { readonly link: LinkChange }
  | { readonly append: Append };

/** A change that is about traces. */
export type TraceChange = Exclude<Change, { readonly append: Append }>;
