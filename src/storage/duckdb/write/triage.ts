import { runKey } from '../../../runs/run-key.js';
import type { KnownRuns } from '../../../runs/stored-runs.js';
import { uuidKey } from '../../../worker/uuid-words.js';
import { repeatAmongThem, repeatsSpans } from '../../../runs/repeated-spans.js';
import type { RunSize } from './run-size.js';
import type { TraceState } from './trace-state.js';
import type {
  AheadChange,
  CloseChange,
  LinkChange,
  OutcomeChange,
  RemapChange,
  TimeoutChange,
  TraceChange,
} from './change.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';

/**
 * Traces of batches, by batch and by position in it: in this commit, the line of the trace's payloads where the first span of
 * each begins.
 */
export type NewParts = ReadonlyMap<IncomingBatch, ReadonlyMap<number, number>>;

/** A trace of a batch. */
export interface Part {
  readonly batch: IncomingBatch;
  readonly trace: number;
}

/** A trace of a batch of which only those spans are applied that complete stored ones. */
export interface AheadPart extends Part {
  readonly ahead: AheadChange;
}

/** A trace that is perhaps stored, or that several changes of the group are about, and those changes in order. */
export interface TouchedTrace {
  readonly tenant: number;
  /** The id in words, from `offset` on. */
  readonly words: Uint32Array;
  readonly offset: number;
  readonly parts: (
    | Part
    | AheadPart
    | { readonly outcome: OutcomeChange }
    | { readonly timeout: TimeoutChange }
    | { readonly remap: RemapChange }
    | { readonly close: CloseChange }
    | { readonly link: LinkChange }
  )[];
}

/** How to treat the traces of a group. */
export interface Triage {
  /** For each batch, the traces that are certainly new, come once in the group, and have each span once. */
  readonly whole: ReadonlyMap<IncomingBatch, readonly number[]>;
  /** All others, by key. */
  readonly touched: ReadonlyMap<string, TouchedTrace>;
}

/**
 * Sorts a group of changes by what is known of the traces that they are about.
 *
 * @param traces which traces are stored
 */
export function triage(changes: readonly TraceChange[], traces: KnownRuns, { followed }: RunSize): Triage {
  const mentions = countTraces(changes);
  const whole = new Map<IncomingBatch, number[]>();
  const touched = new Map<string, TouchedTrace>();
  for (const change of changes) {
    if ('ahead' in change) {
      const { ahead } = change;
      for (const part of aheadParts(ahead)) {
        const { tenant, traceIds: words } = ahead.batch;
        const found = { tenant, words, offset: part.trace * 4 };
        touch(touched, ahead.batch.traceKey(part.trace), found).parts.push(part);
      }
      continue;
    }
    if (!('batch' in change)) {
      const { tenant, words } = storedTraceOf(change);
      const trace = { tenant, words, offset: 0 };
      touch(touched, runKey(tenant, words, 0), trace).parts.push(change);
      continue;
    }
    const { batch } = change;
    const wholeOfBatch: number[] = [];
    for (let trace = 0; trace < batch.traces.rows; trace++) {
      const offset = trace * 4;
      const key = batch.traceKey(trace);
      const isNew = mentions.get(key) === 1 && traces.find(batch.tenant, batch.traceIds, offset) === 0;
      const isLong = batch.end(trace) - batch.start(trace) > followed;
      if (isNew && !isLong && !repeatsSpans(batch, trace)) wholeOfBatch.push(trace);
      else {
        const found = { tenant: batch.tenant, words: batch.traceIds, offset };
        touch(touched, key, found).parts.push({ batch, trace });
      }
    }
    if (wholeOfBatch.length > 0) whole.set(batch, wholeOfBatch);
  }
  return { whole, touched };
}

/**
 * Of the touched traces, those whose spans are all new, in all batches of the group that bring some.
 *
 * @param states the stored traces, by key
 */
export function newParts({ touched }: Triage, states: ReadonlyMap<string, TraceState>): NewParts {
  const found = new Map<IncomingBatch, Map<number, number>>();
  for (const [key, { parts }] of touched) {
    // These write stored spans, too.
    if (parts.some((change) => 'remap' in change || 'ahead' in change)) continue;
    const brought = parts.filter((part) => 'batch' in part);
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

function repeatSpans(parts: readonly Part[]): boolean {
  const [part, another] = parts;
  if (part === undefined) return false;
  return another === undefined ? repeatsSpans(part.batch, part.trace) : repeatAmongThem(parts);
}

function hasStoredSpan({ batch, trace }: Part, state: TraceState | undefined): boolean {
  if (state === undefined) return false;
  for (let row = batch.start(trace); row < batch.end(trace); row++) {
    if (state.spans.has(uuidKey(batch.spanIds, row * 4))) return true;
  }
  return false;
}

function aheadParts(ahead: AheadChange): AheadPart[] {
  return [...ahead.traces.keys()].map((trace) => ({ batch: ahead.batch, trace, ahead }));
}

/** How many changes of the group are about each trace, by key. */
function countTraces(changes: readonly TraceChange[]): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (key: string): void => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const change of changes) {
    if ('batch' in change) {
      for (let trace = 0; trace < change.batch.traces.rows; trace++) count(change.batch.traceKey(trace));
    } else if ('ahead' in change) {
      for (const trace of change.ahead.traces.keys()) count(change.ahead.batch.traceKey(trace));
    } else {
      const { tenant, words } = storedTraceOf(change);
      count(runKey(tenant, words, 0));
    }
  }
  return counts;
}

function storedTraceOf(
  change: Exclude<TraceChange, { readonly batch: IncomingBatch } | { readonly ahead: AheadChange }>,
): Pick<RemapChange, 'tenant' | 'words'> {
  if ('outcome' in change) return change.outcome;
  if ('link' in change) return change.link;
  if ('close' in change) return change.close;
  return 'timeout' in change ? change.timeout : change.remap;
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
