import { runKey } from '../../../runs/run-key.js';
import type { KnownRuns } from '../../../runs/stored-runs.js';
import { uuidKey } from '../../../worker/uuid-words.js';
import { repeatAmongThem, repeatsSpans } from '../../../runs/repeated-spans.js';
import type { RunSize } from './run-size.js';
import type { TraceState } from './trace-state.js';
import type { AheadChange, BatchChange, SingleTraceChange, TraceChange } from './change.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';

/** Traces of batches, by batch and position. The value is the payload line, within this commit, of the first span of the trace. */
export type NewParts = ReadonlyMap<IncomingBatch, ReadonlyMap<number, number>>;

interface WholePart {
  readonly kind: 'batch';
  readonly change: BatchChange;
  readonly batch: IncomingBatch;
  readonly trace: number;
}

/** A trace of a batch; only its spans that complete stored ones are applied. */
export interface AheadPart {
  readonly kind: 'ahead';
  readonly change: AheadChange;
  readonly batch: IncomingBatch;
  readonly trace: number;
  /** The row before which its spans are included. */
  readonly end: number;
}

/** A trace of a batch. */
export type BatchPart = WholePart | AheadPart;
/** The part of a change that affects one trace. */
export type TracePart = BatchPart | SingleTraceChange;

export function isOfBatch(part: TracePart): part is BatchPart {
  return part.kind === 'batch' || part.kind === 'ahead';
}

/** The change that contains a part. */
export function changeOf(part: TracePart): TraceChange {
  return isOfBatch(part) ? part.change : part;
}

/** A trace that may be stored or that several changes of the group affect, with these changes in order. */
export interface TouchedTrace {
  readonly tenant: number;
  /** The id in words, from `offset` on. */
  readonly words: Uint32Array;
  readonly offset: number;
  readonly parts: TracePart[];
}

/** The traces of a group by how they are written. */
export interface ClassifiedTraces {
  /** For each batch, the traces that are new, occur once in the group, and have no repeated spans. */
  readonly whole: ReadonlyMap<IncomingBatch, readonly number[]>;
  /** All others, by key. */
  readonly touched: ReadonlyMap<string, TouchedTrace>;
}

/**
 * Classifies the traces of a group of changes as new or touched.
 *
 * @param traces which traces are stored
 * @param verdicts which traces have scores that decide about their success
 */
export function classify(
  changes: readonly TraceChange[],
  traces: KnownRuns,
  verdicts: KnownRuns,
  { maxSpans }: RunSize,
): ClassifiedTraces {
  const mentions = countTraces(changes);
  const whole = new Map<IncomingBatch, number[]>();
  const touched = new Map<string, TouchedTrace>();
  for (const change of changes) {
    switch (change.kind) {
      case 'batch': {
        const { batch } = change;
        const wholeOfBatch: number[] = [];
        for (let trace = 0; trace < batch.traces.rows; trace++) {
          const isNew =
            mentions.get(batch.traceKey(trace)) === 1 &&
            traces.find(batch.tenant, batch.traceIds, trace * 4) === 0;
          const isLong = batch.end(trace) - batch.start(trace) > maxSpans;
          const isJudged = (): boolean => verdicts.find(batch.tenant, batch.traceIds, trace * 4) > 0;
          if (isNew && !isLong && !repeatsSpans(batch, trace) && !isJudged()) wholeOfBatch.push(trace);
          else touchPart(touched, { kind: 'batch', change, batch, trace });
        }
        if (wholeOfBatch.length > 0) whole.set(batch, wholeOfBatch);
        break;
      }
      case 'ahead': {
        const { batch } = change;
        for (const [trace, end] of change.traces)
          touchPart(touched, { kind: 'ahead', change, batch, trace, end });
        break;
      }
      case 'outcome':
      case 'judge':
      case 'timeout':
      case 'remap':
      case 'truncate':
      case 'link': {
        const { tenant, words } = change;
        touch(touched, runKey(tenant, words, 0), { tenant, words, offset: 0 }).parts.push(change);
      }
    }
  }
  return { whole, touched };
}

/**
 * The touched traces whose spans are all new, in all batches of the group that contain some.
 *
 * @param states the stored traces, by key
 */
export function newParts({ touched }: ClassifiedTraces, states: ReadonlyMap<string, TraceState>): NewParts {
  const found = new Map<IncomingBatch, Map<number, number>>();
  for (const [key, { parts }] of touched) {
    // These changes also write stored spans.
    if (parts.some(({ kind }) => kind === 'remap' || kind === 'ahead')) continue;
    const brought = parts.filter((part) => part.kind === 'batch');
    if (brought.some((part) => hasStoredSpan(part, states.get(key))) || repeatSpans(brought)) continue;
    let line = 0;
    for (const { batch, trace } of brought) {
      const lines = found.get(batch) ?? new Map<number, number>();
      found.set(batch, lines.set(trace, line));
      line += batch.end(trace) - batch.start(trace);
    }
  }
  return found;
}

function repeatSpans(parts: readonly BatchPart[]): boolean {
  const [part, another] = parts;
  if (part === undefined) return false;
  return another === undefined ? repeatsSpans(part.batch, part.trace) : repeatAmongThem(parts);
}

function hasStoredSpan({ batch, trace }: BatchPart, state: TraceState | undefined): boolean {
  if (state === undefined) return false;
  for (let row = batch.start(trace); row < batch.end(trace); row++) {
    if (state.spans.has(uuidKey(batch.spanIds, row * 4))) return true;
  }
  return false;
}

/** Number of changes of the group that affect each trace, by key. */
function countTraces(changes: readonly TraceChange[]): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (key: string): void => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const change of changes) {
    switch (change.kind) {
      case 'batch':
        for (let trace = 0; trace < change.batch.traces.rows; trace++) count(change.batch.traceKey(trace));
        break;
      case 'ahead':
        for (const trace of change.traces.keys()) count(change.batch.traceKey(trace));
        break;
      case 'outcome':
      case 'judge':
      case 'timeout':
      case 'remap':
      case 'truncate':
      case 'link':
        count(runKey(change.tenant, change.words, 0));
    }
  }
  return counts;
}

function touchPart(touched: Map<string, TouchedTrace>, part: BatchPart): void {
  const { batch, trace } = part;
  const found = { tenant: batch.tenant, words: batch.traceIds, offset: trace * 4 };
  touch(touched, batch.traceKey(trace), found).parts.push(part);
}

function touch(
  touched: Map<string, TouchedTrace>,
  key: string,
  trace: Omit<TouchedTrace, 'parts'>,
): TouchedTrace {
  const known = touched.get(key);
  if (known !== undefined) return known;
  const made = { ...trace, parts: [] };
  touched.set(key, made);
  return made;
}
