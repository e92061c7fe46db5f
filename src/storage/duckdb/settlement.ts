import {
  ColumnsReader,
  ColumnsWriter,
  encodeRows,
  formatUuid,
  TextScratch,
  type Column,
} from '../../worker/columns.js';
import { AGENTS, indexOf, PAYLOADS, SPANS, SPAN_WIRE, TRACES, TRACE_WIRE, type Table } from '../tables.js';
import type { Agents } from './agents.js';
import type { Connection } from './database.js';
import type { Fingerprints } from './fingerprints.js';
import type { Capture } from './segments.js';
import { loadPayloads, loadTraces, storedSpans, type TraceToLoad } from './stored-traces.js';
import { completes, TraceState, type SpanRow, type SpanState, type TraceRow } from './trace-state.js';
import { idKey, PAYLOAD, type IncomingBatch, type Rows } from './write-group.js';

/** A change of a stored header: of a trace, asked for by its owner. */
export interface OutcomeChange {
  readonly tenant: number;
  readonly traceId: string;
  /** The id in words. */
  readonly words: Uint32Array;
  readonly success: boolean;
  readonly outcome: string | undefined;
}

export type Change = { readonly batch: IncomingBatch } | { readonly outcome: OutcomeChange };

/** What one group commit writes. */
export interface Settled {
  readonly rows: readonly Rows[];
  /** By change: the header after an outcome was set; null for a trace that is not stored. */
  readonly outcomes: ReadonlyMap<OutcomeChange, TraceRow | null>;
  /** To be called after the commit. */
  committed(): void;
}

/** Spans of traces kept in memory after they were changed, because more of the same often follows. */
const REMEMBERED_SPANS = 100_000;
const SPAN_TRACE_ID = indexOf(SPAN_WIRE, 'trace_id');

interface Slow {
  readonly tenant: number;
  readonly id: string;
  readonly words: Uint32Array;
  readonly offset: number;
  readonly parts: ({ readonly batch: IncomingBatch; readonly trace: number } | OutcomeChange)[];
}

/**
 * Decides what a group of batches adds to what is stored. The common case, a whole trace whose ids were never seen, goes
 * straight from the senders' columns to the tables; whatever touches a stored trace, or comes twice in the group, is
 * loaded, changed by the rules of {@link TraceState}, and written as new versions.
 *
 * Runs only between commits, on the one thread that writes, so that what it reads is all there is.
 */
export class Settlement {
  readonly #connection: Connection;
  readonly #ids: Fingerprints;
  readonly #traces: Fingerprints;
  readonly #agents: Agents;
  readonly #remembered = new Map<string, { readonly state: TraceState; readonly spans: number }>();
  #rememberedSpans = 0;

  /**
   * @param ids every stored span id
   * @param traces every stored trace id, with the commit of its newest header
   */
  constructor(connection: Connection, ids: Fingerprints, traces: Fingerprints, agents: Agents) {
    this.#connection = connection;
    this.#ids = ids;
    this.#traces = traces;
    this.#agents = agents;
  }

  async settle(seq: number, changes: readonly Change[], capture: Capture): Promise<Settled> {
    const { fast, slow, suspects } = this.#classify(changes);
    const states = slow.size === 0 ? new Map<string, TraceState>() : await this.#load(slow, capture);
    const dropped = await this.#repeatsElsewhere(suspects, states, changes, capture);
    const outcomes = await this.#apply(slow, states, dropped, capture);
    const written = [...states].map(([key, state]) => ({ key, state, ...state.settle(seq) }));
    const rows: Rows[] = [];
    for (const [batch, traces] of fast) rows.push(...this.#fastRows(seq, batch, traces));
    rows.push(...slowRows(seq, written, slow));
    rows.push(...this.#agentRows(seq));
    return {
      rows,
      outcomes,
      committed: () => {
        for (const [batch, traces] of fast) {
          for (const trace of traces) this.#traces.add(batch.tenant, batch.traceIds, trace * 4, seq);
        }
        for (const trace of written) this.#commitState(seq, slow.get(trace.key), trace);
      },
    };
  }

  /** After a commit that failed: what was worked out in memory holds no more. */
  rollback(): void {
    this.#remembered.clear();
    this.#rememberedSpans = 0;
  }

  #classify(changes: readonly Change[]): {
    fast: Map<IncomingBatch, number[]>;
    slow: Map<string, Slow>;
    suspects: Map<IncomingBatch, Set<number>>;
  } {
    const seen = new Map<string, number>();
    for (const change of changes) {
      if ('outcome' in change) count(seen, idKey(change.outcome.tenant, change.outcome.words, 0));
      else {
        const { batch } = change;
        for (let t = 0; t < batch.traces.rows; t++) count(seen, idKey(batch.tenant, batch.traceIds, t * 4));
      }
    }
    const fast = new Map<IncomingBatch, number[]>();
    const slow = new Map<string, Slow>();
    const suspects = new Map<IncomingBatch, Set<number>>();
    for (const change of changes) {
      if ('outcome' in change) {
        const { outcome } = change;
        const { tenant, traceId, words } = outcome;
        entry(slow, idKey(tenant, words, 0), { tenant, id: traceId, words, offset: 0 }).parts.push(outcome);
        continue;
      }
      const { batch } = change;
      const whole: number[] = [];
      const repeated = new Set<number>();
      for (let t = 0; t < batch.traces.rows; t++) {
        const offset = t * 4;
        let isNew = !this.#traces.mayHave(batch.tenant, batch.traceIds, offset);
        for (let row = batch.start(t); row < batch.end(t); row++) {
          if (this.#ids.addNew(batch.tenant, batch.spanIds, row * 4)) continue;
          repeated.add(row);
          isNew = false;
        }
        const key = idKey(batch.tenant, batch.traceIds, offset);
        if (isNew && seen.get(key) === 1) whole.push(t);
        else {
          const id = formatUuid(batch.traceIds, offset);
          entry(slow, key, { tenant: batch.tenant, id, words: batch.traceIds, offset }).parts.push({
            batch,
            trace: t,
          });
        }
      }
      if (whole.length > 0) fast.set(batch, whole);
      if (repeated.size > 0) suspects.set(batch, repeated);
    }
    return { fast, slow, suspects };
  }

  /** The states of the slow traces that are stored, by key. */
  async #load(slow: ReadonlyMap<string, Slow>, capture: Capture): Promise<Map<string, TraceState>> {
    const states = new Map<string, TraceState>();
    const wanted = new Map<number, TraceToLoad[]>();
    for (const [key, { tenant, id, words, offset }] of slow) {
      const remembered = this.#remembered.get(key);
      if (remembered !== undefined) {
        states.set(key, remembered.state);
        continue;
      }
      const seqs = this.#traces.numbers(tenant, words, offset);
      if (seqs.length === 0) continue;
      const list = wanted.get(tenant) ?? [];
      list.push({ id, seqs });
      wanted.set(tenant, list);
    }
    for (const [tenant, traces] of wanted) {
      const loaded = await loadTraces(this.#connection, capture, tenant, traces);
      for (const [key, trace] of slow) {
        const state = trace.tenant === tenant ? loaded.get(trace.id) : undefined;
        if (state !== undefined) states.set(key, state);
      }
    }
    return states;
  }

  /** The suspected spans that are stored, or come in this group, under another trace: repeats that change nothing. */
  async #repeatsElsewhere(
    suspects: ReadonlyMap<IncomingBatch, ReadonlySet<number>>,
    states: ReadonlyMap<string, TraceState>,
    changes: readonly Change[],
    capture: Capture,
  ): Promise<Map<IncomingBatch, Set<number>>> {
    const dropped = new Map<IncomingBatch, Set<number>>();
    const open: { batch: IncomingBatch; row: number; id: string }[] = [];
    let pending: Map<string, string> | undefined;
    for (const [batch, rows] of suspects) {
      for (const row of rows) {
        const traceKey = idKey(batch.tenant, batch.spans.uuidWords(SPAN_TRACE_ID), row * 4);
        const id = formatUuid(batch.spanIds, row * 4);
        if (states.get(traceKey)?.spans.has(id)) continue;
        pending ??= spansOfGroup(changes, suspects);
        const elsewhere = pending.get(idKey(batch.tenant, batch.spanIds, row * 4));
        if (elsewhere === undefined) open.push({ batch, row, id });
        else if (elsewhere !== traceKey) drop(dropped, batch, row);
      }
    }
    for (const tenant of new Set(open.map(({ batch }) => batch.tenant))) {
      const mine = open.filter(({ batch }) => batch.tenant === tenant);
      const stored = await storedSpans(
        this.#connection,
        capture,
        tenant,
        mine.map(({ id }) => id),
      );
      for (const { batch, row, id } of mine) if (stored.has(id)) drop(dropped, batch, row);
    }
    return dropped;
  }

  async #apply(
    slow: ReadonlyMap<string, Slow>,
    states: Map<string, TraceState>,
    dropped: ReadonlyMap<IncomingBatch, ReadonlySet<number>>,
    capture: Capture,
  ): Promise<Map<OutcomeChange, TraceRow | null>> {
    const outcomes = new Map<OutcomeChange, TraceRow | null>();
    for (const [key, trace] of slow) {
      let state = states.get(key);
      for (const part of trace.parts) {
        if (!('batch' in part)) {
          state?.setOutcome(part.success, part.outcome);
          outcomes.set(part, state?.header ?? null);
          continue;
        }
        const { batch } = part;
        const header = pick(batch.traces, part.trace, TRACE_WIRE) as TraceRow;
        if (state === undefined) {
          const agent = this.#agents.named(batch.tenant, batch.agent(part.trace), batch.receivedAt);
          state = new TraceState(header, {
            agentNo: agent.agent_no,
            storedSeq: null,
            firstSeq: 0,
            lastSeq: 0,
          });
          states.set(key, state);
        } else state.applyHeader(header);
        await this.#applySpans(state, batch, part.trace, dropped.get(batch), capture);
      }
    }
    return outcomes;
  }

  async #applySpans(
    state: TraceState,
    batch: IncomingBatch,
    trace: number,
    dropped: ReadonlySet<number> | undefined,
    capture: Capture,
  ): Promise<void> {
    const spans: { row: SpanRow; payload: string }[] = [];
    for (let row = batch.start(trace); row < batch.end(trace); row++) {
      if (dropped?.has(row)) continue;
      spans.push({
        row: pick(batch.spans, row, SPAN_WIRE) as SpanRow,
        payload: batch.spans.textBytes(PAYLOAD, row).toString('utf8'),
      });
    }
    const completed = spans.flatMap(({ row }) => {
      const known = state.spans.get(row.span_id);
      return known !== undefined && completes(known.row, row) ? row.span_id : [];
    });
    if (completed.length > 0) await loadPayloads(this.#connection, capture, batch.tenant, state, completed);
    for (const { row, payload } of spans) state.applySpan(row, payload);
  }

  /** Rows that go from the sender's columns into the tables as they are. */
  #fastRows(seq: number, batch: IncomingBatch, traces: readonly number[]): Rows[] {
    const { tenant } = batch;
    const rows: Rows[] = [];
    const lines = new Uint32Array(batch.spans.rows);
    const payloads = new ColumnsWriter(PAYLOADS.wire, traces.length, new TextScratch());
    let payloadRows = 0;
    for (const trace of traces) {
      const start = batch.start(trace);
      const end = batch.end(trace);
      for (let row = start; row < end; row++) lines[row] = row - start;
      if (end === start) continue;
      const textStart = batch.spans.textStart(PAYLOAD, start);
      const textEnd = batch.spans.textEnd(PAYLOAD, end - 1);
      // Nothing but the line ends: no span has a payload.
      if (textEnd - textStart === end - start - 1) continue;
      payloads.uuidWords(0, payloadRows, batch.traceIds, trace * 4);
      payloads.span(1, payloadRows++, textStart, textEnd);
    }
    const agentNos = new Int32Array(batch.traces.rows);
    for (const trace of traces) {
      agentNos[trace] = this.#agents.named(tenant, batch.agent(trace), batch.receivedAt).agent_no;
    }
    const ownOfSpan = (row: number, values: number[]): void => {
      values[0] = seq;
      values[1] = tenant;
      values[2] = lines[row] ?? 0;
      values[3] = 0;
    };
    const ownOfTrace = (trace: number, values: number[]): void => {
      const spans = batch.end(trace) - batch.start(trace);
      values[0] = seq;
      values[1] = tenant;
      values[2] = agentNos[trace] ?? 0;
      values[3] = spans;
      values[4] = spans === 0 ? 0 : seq;
      values[5] = spans === 0 ? 0 : seq;
      values[6] = 0;
    };
    for (const [from, to] of runsOf(traces)) {
      rows.push({ table: TRACES, source: batch.traces, from, to, own: ownOfTrace, replacing: 0 });
      rows.push({
        table: SPANS,
        source: batch.spans,
        from: batch.start(from),
        to: batch.end(to - 1),
        own: ownOfSpan,
        replacing: 0,
      });
    }
    const source = new ColumnsReader(PAYLOADS.wire, payloads.finish(batch.spans.textBuffer));
    rows.push({
      table: PAYLOADS,
      source,
      from: 0,
      to: payloadRows,
      own: commitOf(seq, tenant),
      replacing: 0,
    });
    return rows;
  }

  #agentRows(seq: number): Rows[] {
    const added = this.#agents.added;
    if (added.length === 0) return [];
    const own = (row: number, values: number[]): void => {
      values[0] = seq;
      values[1] = added[row]?.tenant ?? 0;
    };
    const agents = added.map(({ agent_no, id, name, created_at }) => ({ agent_no, id, name, created_at }));
    const source = new ColumnsReader(AGENTS.wire, encodeRows(AGENTS.wire, agents));
    return [{ table: AGENTS, source, from: 0, to: added.length, own, replacing: 0 }];
  }

  #commitState(seq: number, slow: Slow | undefined, { key, state, spans, writesHeader }: WrittenTrace): void {
    if (slow === undefined) return;
    if (writesHeader) {
      const { tenant, words, offset } = slow;
      if (state.storedSeq === null) this.#traces.add(tenant, words, offset, seq);
      else this.#traces.replace(tenant, words, offset, state.storedSeq, seq);
      state.committed(seq, spans);
    }
    this.#remember(key, state);
  }

  #remember(key: string, state: TraceState): void {
    this.#forget(key);
    const spans = state.spans.size + 1;
    this.#remembered.set(key, { state, spans });
    this.#rememberedSpans += spans;
    for (const oldest of this.#remembered.keys()) {
      if (this.#rememberedSpans <= REMEMBERED_SPANS) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const known = this.#remembered.get(key);
    if (known === undefined) return;
    this.#remembered.delete(key);
    this.#rememberedSpans -= known.spans;
  }
}

interface WrittenTrace {
  readonly key: string;
  readonly state: TraceState;
  readonly spans: readonly SpanState[];
  readonly writesHeader: boolean;
}

/** New versions of traces that are not simply new. */
function slowRows(seq: number, written: readonly WrittenTrace[], slow: ReadonlyMap<string, Slow>): Rows[] {
  const headers: { row: TraceRow; own: number[] }[] = [];
  const spanRows: { row: SpanRow; own: number[] }[] = [];
  const payloads: { row: { trace_id: string; lines: string }; own: number[] }[] = [];
  for (const { key, state, spans, writesHeader } of written) {
    if (!writesHeader) continue;
    const tenant = slow.get(key)?.tenant ?? 0;
    const replaces = state.storedSeq === null ? 0 : 1;
    headers.push({
      row: state.header,
      own: [seq, tenant, state.agentNo, state.spans.size, state.firstSeq, state.lastSeq, replaces],
    });
    spans.forEach(({ row, stored }, line) =>
      spanRows.push({ row, own: [seq, tenant, line, stored === null ? 0 : 1] }),
    );
    const lines = spans.map((span) => span.payload ?? '');
    if (lines.some((line) => line !== '')) {
      payloads.push({
        row: { trace_id: state.header.trace_id, lines: lines.join('\n') },
        own: [seq, tenant],
      });
    }
  }
  return [
    ...objectRows(TRACES, headers, headers.filter(({ own }) => own.at(-1) === 1).length),
    ...objectRows(SPANS, spanRows, spanRows.filter(({ own }) => own.at(-1) === 1).length),
    ...objectRows(PAYLOADS, payloads, 0),
  ];
}

function objectRows(
  table: Table,
  rows: readonly { readonly row: object; readonly own: readonly number[] }[],
  replacing: number,
): Rows[] {
  if (rows.length === 0) return [];
  const objects = rows.map(({ row }) => row as Record<string, string | number | boolean | null>);
  const source = new ColumnsReader(table.wire, encodeRows(table.wire, objects));
  const own = (row: number, values: number[]): void => {
    rows[row]?.own.forEach((value, i) => (values[i] = value));
  };
  return [{ table, source, from: 0, to: rows.length, own, replacing }];
}

/** Of every span of the group that is not suspected itself: the key of its trace, by its own key. */
function spansOfGroup(
  changes: readonly Change[],
  suspects: ReadonlyMap<IncomingBatch, ReadonlySet<number>>,
): Map<string, string> {
  const traces = new Map<string, string>();
  for (const change of changes) {
    if ('outcome' in change) continue;
    const { batch } = change;
    const traceIds = batch.spans.uuidWords(SPAN_TRACE_ID);
    for (let row = 0; row < batch.spans.rows; row++) {
      if (suspects.get(batch)?.has(row)) continue;
      traces.set(idKey(batch.tenant, batch.spanIds, row * 4), idKey(batch.tenant, traceIds, row * 4));
    }
  }
  return traces;
}

/** Neighbouring numbers as runs `[from, to)`. */
function runsOf(numbers: readonly number[]): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.[1] === number) last[1] = number + 1;
    else runs.push([number, number + 1]);
  }
  return runs;
}

function commitOf(seq: number, tenant: number): Rows['own'] {
  return (_row, values) => {
    values[0] = seq;
    values[1] = tenant;
  };
}

/** The first columns of a row as an object. */
function pick(source: ColumnsReader, row: number, columns: readonly Column[]): unknown {
  return source.row(row, columns.length);
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function entry(slow: Map<string, Slow>, key: string, trace: Omit<Slow, 'parts'>): Slow {
  const known = slow.get(key);
  if (known !== undefined) return known;
  const made = { ...trace, parts: [] };
  slow.set(key, made);
  return made;
}

function drop(dropped: Map<IncomingBatch, Set<number>>, batch: IncomingBatch, row: number): void {
  const rows = dropped.get(batch) ?? new Set();
  rows.add(row);
  dropped.set(batch, rows);
}
