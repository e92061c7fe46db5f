import type { Fingerprints } from './fingerprints.js';
import {
  idKey,
  type IncomingBatch,
  type LinkChange,
  type OutcomeChange,
  type RemapChange,
  type TimeoutChange,
  type TraceChange,
} from './write-group.js';

/** Rows of batches, or traces of batches: sets of their positions, by batch. */
export type RowSets = Map<IncomingBatch, Set<number>>;

/** A trace that is perhaps stored, or that more than one change of the group is about, and those changes in order. */
export interface TouchedTrace {
  readonly tenant: number;
  /** The id in words, from `offset` on. */
  readonly words: Uint32Array;
  readonly offset: number;
  readonly parts: (
    | { readonly batch: IncomingBatch; readonly trace: number }
    | { readonly outcome: OutcomeChange }
    | { readonly timeout: TimeoutChange }
    | { readonly remap: RemapChange }
    | { readonly link: LinkChange }
  )[];
}

/** How the traces of a group are to be treated. */
export interface Triage {
  /** Of each batch, the traces that are certainly new with all their spans, and come once in the group. */
  readonly whole: ReadonlyMap<IncomingBatch, readonly number[]>;
  /** All others, by key. */
  readonly touched: ReadonlyMap<string, TouchedTrace>;
  /** Spans that are perhaps stored, or came before in the group. All others are certainly new. */
  readonly suspects: RowSets;
}

/**
 * Sorts a group of changes by what is known of their ids, and notes the new span ids.
 *
 * @param ids every stored span id @param traces every stored trace id
 */
export function triage(changes: readonly TraceChange[], ids: Fingerprints, traces: Fingerprints): Triage {
  const mentions = countTraces(changes);
  const whole = new Map<IncomingBatch, number[]>();
  const touched = new Map<string, TouchedTrace>();
  const suspects: RowSets = new Map();
  for (const change of changes) {
    if (!('batch' in change)) {
      const { tenant, words } = storedTraceOf(change);
      const trace = { tenant, words, offset: 0 };
      touch(touched, idKey(tenant, words, 0), trace).parts.push(change);
      continue;
    }
    const { batch } = change;
    const wholeOfBatch: number[] = [];
    for (let trace = 0; trace < batch.traces.rows; trace++) {
      const offset = trace * 4;
      let isNew = !traces.mayHave(batch.tenant, batch.traceIds, offset);
      for (let row = batch.start(trace); row < batch.end(trace); row++) {
        if (ids.addNew(batch.tenant, batch.spanIds, row * 4)) continue;
        addRow(suspects, batch, row);
        isNew = false;
      }
      const key = batch.traceKey(trace);
      if (isNew && mentions.get(key) === 1) wholeOfBatch.push(trace);
      else {
        const found = { tenant: batch.tenant, words: batch.traceIds, offset };
        touch(touched, key, found).parts.push({ batch, trace });
      }
    }
    if (wholeOfBatch.length > 0) whole.set(batch, wholeOfBatch);
  }
  return { whole, touched, suspects };
}

/** Of every span of the group that is not suspected itself: the key of its trace, by its own key. */
export function newSpansOf(changes: readonly TraceChange[], suspects: RowSets): Map<string, string> {
  const traces = new Map<string, string>();
  for (const change of changes) {
    if (!('batch' in change)) continue;
    const { batch } = change;
    for (let row = 0; row < batch.spans.rows; row++) {
      if (!suspects.get(batch)?.has(row)) traces.set(batch.spanKey(row), batch.traceKeyOfSpan(row));
    }
  }
  return traces;
}

export function addRow(sets: RowSets, batch: IncomingBatch, row: number): void {
  const rows = sets.get(batch);
  if (rows === undefined) sets.set(batch, new Set([row]));
  else rows.add(row);
}

/**
 * Of the touched traces, those that come in one batch of the group only, with spans that are all certainly new: by batch,
 * their positions in it.
 */
export function newParts({ touched, suspects }: Triage): RowSets {
  const found: RowSets = new Map();
  for (const { parts } of touched.values()) {
    const [part, another] = parts.filter((candidate) => 'batch' in candidate);
    if (part === undefined || another !== undefined) continue;
    // It writes spans that are stored, too.
    if (parts.some((change) => 'remap' in change)) continue;
    const { batch, trace } = part;
    const suspected = suspects.get(batch);
    let isNew = true;
    for (let row = batch.start(trace); row < batch.end(trace) && isNew; row++) {
      isNew = suspected?.has(row) !== true;
    }
    if (isNew) addRow(found, batch, trace);
  }
  return found;
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
    } else {
      const { tenant, words } = storedTraceOf(change);
      count(idKey(tenant, words, 0));
    }
  }
  return counts;
}

function storedTraceOf(
  change: Exclude<TraceChange, { readonly batch: IncomingBatch }>,
): Pick<RemapChange, 'tenant' | 'words'> {
  if ('outcome' in change) return change.outcome;
  if ('link' in change) return change.link;
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
