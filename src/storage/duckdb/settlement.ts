import type { Micros } from '../../signal/time.js';
import type { Agents } from './agents.js';
import { countedAt, countedHeader } from './counted-runs.js';
import type { Connection } from './database.js';
import type { Fingerprints } from './fingerprints.js';
import { followsSpans } from './following-header.js';
import type { IdleRuns } from './idle-runs.js';
import {
  headerAt,
  isRunningAt,
  mapSpansAt,
  namesItsAgentAt,
  newSpansAt,
  payloadAt,
  spanAt,
  startedAt,
} from './incoming-rows.js';
import { KnownTraces } from './known-traces.js';
import { MapChanges, type TraceSums } from './map/map-changes.js';
import { nodeOfStored } from './map/node-of-stored.js';
import type { Services } from './map/services.js';
import { PromptLinks } from './prompts/prompt-links.js';
import type { StoredPrompts } from './prompts/stored-prompts.js';
import type { RunChanges } from './run-figures.js';
import type { Capture } from './segments.js';
import { agentRows, newSpanRows, touchedRows, wholeRows, type TouchedRows } from './settled-rows.js';
import { loadWhole } from './stored-traces.js';
import { completesSpan, keyOf, type SpanRow, type TraceRow } from './trace-rows.js';
import { TraceState } from './trace-state.js';
import { newParts, triage, type RowSets, type TouchedTrace } from './triage.js';
import type { IncomingBatch, OutcomeChange, Rows, TraceChange } from './write-group.js';

/** What one group commit writes. */
export interface Settled {
  readonly rows: readonly Rows[];
  /** By change: the header after an outcome was set; null for a trace that is not stored. */
  readonly outcomes: ReadonlyMap<OutcomeChange, TraceRow | null>;
  /** What is new of each batch: its spans, and traces without spans. */
  readonly events: ReadonlyMap<IncomingBatch, number>;
  /** To be called after the commit. */
  committed(): void;
}

/** Of a trace with more spans what it adds to the map is kept, so that not every change of it counts all of them again. */
const MANY_SPANS = 100;

/** Traces of a batch that are new as a whole, by their position, and the numbers of their agents. */
interface WholeTraces {
  readonly batch: IncomingBatch;
  readonly agentNos: ReadonlyMap<number, number>;
}

/** What a commit writes of a trace that it touches. */
interface WrittenTrace extends TouchedRows {
  readonly key: string;
  readonly trace: TouchedTrace;
}

/**
 * Decides what a group of batches adds to what is stored. The common case, a whole trace whose ids were never seen, goes
 * straight from the senders' columns to the tables; whatever touches a stored trace, or comes twice in the group, is
 * loaded, changed by the rules of {@link TraceState}, and written as new versions. Spans that are certainly new go
 * straight into the tables there, too.
 *
 * Runs only between commits, on the one thread that writes, so that what it reads is all there is.
 */
export class Settlement {
  readonly #connection: Connection;
  readonly #ids: Fingerprints;
  readonly #traces: Fingerprints;
  readonly #agents: Agents;
  readonly #services: Services;
  readonly #map: MapChanges;
  readonly #runs: RunChanges;
  readonly #idle: IdleRuns;
  readonly #known: KnownTraces;
  readonly #prompts: StoredPrompts;
  readonly #links: PromptLinks;
  /** Of the last group. */
  #touched: ReadonlyMap<string, TouchedTrace> = new Map();

  /** @param connection the writer's */
  constructor(parts: {
    readonly connection: Connection;
    /** Every stored span id. */
    readonly ids: Fingerprints;
    /** Every stored trace id, with the commit of its newest header. */
    readonly traces: Fingerprints;
    readonly agents: Agents;
    readonly services: Services;
    /** Told of what every commit made of the runs it touched. */
    readonly runs: RunChanges;
    /** Told of the headers that every commit wrote. */
    readonly idle: IdleRuns;
    /** Told of what every commit made of the linked runs. */
    readonly prompts: StoredPrompts;
  }) {
    this.#connection = parts.connection;
    this.#ids = parts.ids;
    this.#traces = parts.traces;
    this.#agents = parts.agents;
    this.#services = parts.services;
    this.#map = new MapChanges(parts.services);
    this.#runs = parts.runs;
    this.#idle = parts.idle;
    this.#known = new KnownTraces(parts.connection, parts.traces, parts.agents);
    this.#prompts = parts.prompts;
    this.#links = new PromptLinks(parts.connection, parts.prompts);
  }

  async settle(seq: number, changes: readonly TraceChange[], capture: Capture): Promise<Settled> {
    for (const change of changes) {
      if (!('batch' in change)) continue;
      change.batch.numberNodes(this.#services);
      change.batch.numberPrompts(this.#prompts.known);
    }
    const sorted = triage(changes, this.#ids, this.#traces);
    const { touched } = sorted;
    this.#touched = touched;
    const states = await this.#known.load(touched, capture);
    await this.#links.load(sorted, states, capture);
    const dropped = await this.#known.repeatsElsewhere(sorted, states, changes, capture);
    const fresh = newParts(sorted);
    const events = new Map<IncomingBatch, number>();
    for (const [key, trace] of touched) this.#takeFromMap(trace, states.get(key));
    const outcomes = await this.#apply(touched, fresh, states, dropped, capture, events);
    const whole = [...sorted.whole].map(([batch, traces]) => this.#settleWhole(batch, traces, events));
    const written = [...touched].flatMap(([key, trace]) => {
      const state = states.get(key);
      return state === undefined ? [] : this.#settleState(seq, key, trace, state, fresh);
    });
    const rows = whole.flatMap(({ batch, agentNos }) =>
      wholeRows(seq, batch, [...agentNos.keys()], (trace) => agentNos.get(trace) ?? 0),
    );
    for (const batch of new Set([...sorted.whole.keys(), ...fresh.keys()])) {
      const traces = [...(sorted.whole.get(batch) ?? []), ...(fresh.get(batch) ?? [])];
      traces.sort((a, b) => a - b);
      rows.push(...newSpanRows(seq, batch, traces));
    }
    rows.push(...touchedRows(seq, written));
    rows.push(...agentRows(seq, this.#agents.added));
    rows.push(...this.#services.rows(seq), ...this.#map.rows(seq), ...this.#links.rows(seq));
    return {
      rows,
      outcomes,
      events,
      committed: () => {
        for (const traces of whole) this.#wholeCommitted(seq, traces);
        for (const trace of written) this.#touchedCommitted(seq, trace);
        for (const [key, { tenant }] of touched) this.#linksCommitted(seq, key, tenant, states.get(key));
        this.#services.committed();
        this.#map.clear();
      },
    };
  }

  /** Traces that started before this time are being removed from the tables: what is remembered of them holds no more. */
  forgetBefore(time: Micros): void {
    this.#known.forgetBefore(time);
  }

  /** After a commit that failed: what was worked out in memory holds no more. */
  rollback(): void {
    this.#known.forget(this.#touched.keys());
    this.#services.rollback();
    this.#map.clear();
    this.#links.clear();
  }

  async #apply(
    touched: ReadonlyMap<string, TouchedTrace>,
    fresh: RowSets,
    states: Map<string, TraceState>,
    dropped: RowSets,
    capture: Capture,
    events: Map<IncomingBatch, number>,
  ): Promise<Map<OutcomeChange, TraceRow | null>> {
    const outcomes = new Map<OutcomeChange, TraceRow | null>();
    for (const [key, { parts }] of touched) {
      let state = states.get(key);
      for (const part of parts) {
        if ('outcome' in part) {
          const { success, outcome } = part.outcome;
          state?.setOutcome(success, outcome);
          outcomes.set(part.outcome, state?.header ?? null);
        } else if ('timeout' in part) {
          if (state?.stored?.seq === part.timeout.seq) state.timeOut();
        } else if ('link' in part) {
          this.#links.link(key, part.link);
        } else if ('remap' in part) {
          if (state !== undefined) await this.#remap(state, part.remap.tenant, capture);
        } else {
          const { batch, trace } = part;
          const named = headerAt(batch, trace);
          const isFresh = fresh.get(batch)?.has(trace) === true;
          const spans = isFresh || followsSpans(named.header) ? newSpansAt(batch, trace) : [];
          const before = state?.spans.size ?? 0;
          const isNew = state === undefined;
          if (state === undefined) {
            state = new TraceState(named, {
              heardAt: batch.receivedAt,
              stored: null,
              firstSeq: 0,
              lastSeq: 0,
              isMapped: batch.map !== null,
            });
            states.set(key, state);
          } else {
            state.applyHeader(named, spans, batch.receivedAt);
            if (batch.map !== null) state.setMapped();
          }
          if (isFresh) {
            for (const span of spans) state.addSpan(span);
            this.#links.linkSpans(key, batch, trace);
          } else await this.#applySpans(key, state, batch, trace, dropped.get(batch), capture);
          const isEmpty = batch.start(trace) === batch.end(trace);
          addEvents(events, batch, isNew && isEmpty ? 1 : state.spans.size - before);
        }
      }
    }
    return outcomes;
  }

  async #applySpans(
    key: string,
    state: TraceState,
    batch: IncomingBatch,
    trace: number,
    dropped: ReadonlySet<number> | undefined,
    capture: Capture,
  ): Promise<void> {
    const spans: { at: number; row: SpanRow; payload: string; node: number }[] = [];
    for (let at = batch.start(trace); at < batch.end(trace); at++) {
      if (dropped?.has(at)) continue;
      spans.push({ at, row: spanAt(batch, at), payload: payloadAt(batch, at), node: batch.nodeAt(at) });
    }
    const completed = spans.flatMap(({ row }) => {
      const spanKey = keyOf(row.span_id);
      const known = state.spans.get(spanKey);
      return known !== undefined && completesSpan(known, row) ? spanKey : [];
    });
    if (completed.length > 0) await loadWhole(this.#connection, capture, batch.tenant, state, completed);
    for (const { at, row, payload, node } of spans) {
      const isNews = state.applySpan(row, payload, node, (merged, line) =>
        nodeOfStored(this.#services, batch.tenant, merged, line),
      );
      if (isNews) this.#links.linkSpan(key, batch, trace, at);
    }
  }

  /** Derives the nodes of a stored trace from what is stored of its spans. */
  async #remap(state: TraceState, tenant: number, capture: Capture): Promise<void> {
    await loadWhole(this.#connection, capture, tenant, state, [...state.spans.keys()]);
    for (const span of state.spans.values()) {
      if (span.row === undefined) continue;
      const node = nodeOfStored(this.#services, tenant, span.row, span.payload ?? '');
      if (node !== span.node) state.setNode(span, node);
    }
    state.setMapped();
  }

  #settleWhole(
    batch: IncomingBatch,
    traces: readonly number[],
    events: Map<IncomingBatch, number>,
  ): WholeTraces {
    const agentNos = new Map(traces.map((trace) => [trace, this.#agentNo(batch, trace)]));
    for (const trace of traces) {
      addEvents(events, batch, Math.max(1, batch.end(trace) - batch.start(trace)));
      if (batch.usesPrompts) this.#links.linkSpans(batch.traceKey(trace), batch, trace);
    }
    if (batch.map !== null) {
      if (traces.length === batch.traces.rows) this.#map.addBatch(batch);
      else {
        for (const trace of traces) {
          this.#map.addNew({
            tenant: batch.tenant,
            agent: batch.agent(trace),
            startedAt: startedAt(batch, trace),
            spans: mapSpansAt(batch, trace),
          });
        }
      }
    }
    return { batch, agentNos };
  }

  /** What a stored trace adds to the map is taken away before it is changed, and added again as it is then. */
  #takeFromMap({ tenant, parts }: TouchedTrace, state: TraceState | undefined): void {
    if (!state?.isMapped || !parts.some(changesMap)) return;
    this.#map.add(tenant, state.mapSums ?? this.#sumsOf(tenant, state), -1);
  }

  #addToMap({ tenant, parts }: TouchedTrace, state: TraceState): void {
    if (!state.isMapped || !parts.some(changesMap)) return;
    const sums = this.#sumsOf(tenant, state);
    this.#map.add(tenant, sums, 1);
    state.mapSums = state.spans.size > MANY_SPANS ? sums : null;
  }

  #sumsOf(tenant: number, { agent, header, spans }: TraceState): TraceSums {
    return this.#map.sumsOf({ tenant, agent, startedAt: header.started_at, spans: [...spans.values()] });
  }

  /** What a commit makes of a touched trace; nothing where it changes nothing. */
  #settleState(
    seq: number,
    key: string,
    trace: TouchedTrace,
    state: TraceState,
    fresh: RowSets,
  ): WrittenTrace[] {
    const { spans, writesHeader } = state.settle(seq);
    this.#addToMap(trace, state);
    if (!writesHeader) {
      // Nothing of it is written, but it may be asked for again.
      this.#known.remember(key, state);
      return [];
    }
    const { agent_no: agentNo } = this.#agents.named(
      trace.tenant,
      state.agent,
      state.heardAt,
      state.namesItsAgent,
    );
    const areSpansNew = trace.parts.some((part) => 'batch' in part && fresh.get(part.batch)?.has(part.trace));
    return [{ key, trace, tenant: trace.tenant, state, agentNo, spans, areSpansNew }];
  }

  #agentNo(batch: IncomingBatch, trace: number): number {
    const isCertain = namesItsAgentAt(batch, trace);
    return this.#agents.named(batch.tenant, batch.agent(trace), batch.receivedAt, isCertain).agent_no;
  }

  #wholeCommitted(seq: number, { batch, agentNos }: WholeTraces): void {
    for (const [trace, agentNo] of agentNos) {
      this.#traces.add(batch.tenant, batch.traceIds, trace * 4, seq);
      const run = countedAt(batch, trace, agentNo);
      this.#runs.change(null, run);
      const key = this.#links.isEmpty ? '' : batch.traceKey(trace);
      const links = this.#links.committed(seq, key, null, run);
      // Of a run that goes on more will come.
      if (!isRunningAt(batch, trace)) continue;
      const state = storedState(batch, trace, { seq, agentNo });
      state.links = links;
      this.#idle.written(seq, state.header, state.heardAt);
      this.#known.remember(batch.traceKey(trace), state);
    }
  }

  #touchedCommitted(seq: number, { key, trace, state, agentNo, spans }: WrittenTrace): void {
    const { tenant, words, offset } = trace;
    const { stored: before } = state;
    if (before === null) this.#traces.add(tenant, words, offset, seq);
    else this.#traces.replace(tenant, words, offset, before.seq, seq);
    const after = state.committed(seq, agentNo, spans);
    const [runBefore, runAfter] = [before && countedHeader(tenant, before), countedHeader(tenant, after)];
    this.#runs.change(runBefore, runAfter);
    state.links = this.#links.committed(seq, key, runBefore, runAfter) ?? state.links;
    this.#idle.written(seq, state.header, state.heardAt);
    this.#known.remember(key, state);
  }

  /** Of touched traces of which nothing else was written, and of those that are not stored. */
  #linksCommitted(seq: number, key: string, tenant: number, state: TraceState | undefined): void {
    const run = state?.stored ? countedHeader(tenant, state.stored) : null;
    const links = this.#links.committed(seq, key, run, run);
    if (state !== undefined && links !== null) state.links = links;
  }
}

/** Whether a change of a trace may change what it adds to the map. */
function changesMap(part: TouchedTrace['parts'][number]): boolean {
  return 'batch' in part || 'remap' in part;
}

function addEvents(events: Map<IncomingBatch, number>, batch: IncomingBatch, more: number): void {
  if (more > 0) events.set(batch, (events.get(batch) ?? 0) + more);
}

/** A whole trace as it has just been stored. */
function storedState(
  batch: IncomingBatch,
  trace: number,
  { seq, agentNo }: { readonly seq: number; readonly agentNo: number },
): TraceState {
  const [start, end] = [batch.start(trace), batch.end(trace)];
  const named = headerAt(batch, trace);
  const spansSeq = start === end ? 0 : seq;
  const stored = { seq, agentNo, header: named.header };
  const state = new TraceState(named, {
    heardAt: batch.receivedAt,
    stored,
    firstSeq: spansSeq,
    lastSeq: spansSeq,
    isMapped: batch.map !== null,
  });
  newSpansAt(batch, trace).forEach((span, line) => {
    state.spans.set(span.span_id, span);
    span.seq = seq;
    span.line = line;
    span.changed = false;
  });
  return state;
}
