import type { StoredRuns } from '../../../runs/stored-runs.js';
import { invariant } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import type { Agents } from '../stats/agents.js';
import { CompletedSpans, type LoadedGroup } from './completed-spans.js';
import type { Connection } from '../files/connection.js';
import { CommitEvents, eventRows } from './commit-events.js';
import type { RecentEvents } from './recent-events.js';
import { ItemsOfGroup, GroupChanges } from './group-changes.js';
import type { IdIndex } from '../index/id-index.js';
import type { IdleRuns } from './idle-runs.js';
import { headerAt, isRunningAt, kindAt, namesItsAgentAt, newSpansAt } from '../../incoming/incoming-rows.js';
import { isRecomputed, KnownTraces } from './known-traces.js';
import type { Services } from './services.js';
import { CommitMap } from './commit-map.js';
import { PromptLinks, type LinkedPrompts } from './prompt-links.js';
import type { RunChanges, CountedRun } from '../stats/counted-run.js';
import type { Capture } from '../segments/segment.js';
import { agentRows, newSpanRows, touchedRows, wholeRows, type TouchedRows } from './commit-rows.js';
import type { HeaderRow } from '../../../runs/rules/rows.js';
import type { TruncatedRuns } from './truncated-runs.js';
import type { Reloads } from './reloads.js';
import type { RunSize } from './run-size.js';
import { StoredTraces } from './stored-traces.js';
import { TraceState, type StoredHeader } from './trace-state.js';
import { CommitRanges } from '../segments/commit-ranges.js';
import { FollowedSpans } from '../../../runs/spans/followed-spans.js';
import { isOfBatch, newParts, classify, type NewParts, type TouchedTrace } from './classify.js';
import { isJudged } from '../../../runs/rules/verdicts.js';
import { noteVerdicts, scoreRows } from './incoming-scores.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { OutcomeChange, TraceChange } from './change.js';
import type { Rows } from './rows.js';
import { indexOf } from '../../schema/table.js';
import { TRACE_WIRE } from '../../schema/tables.js';
import type { CountsRewrite } from '../../../runs/spans/run-spans.js';
import { formatUuid, uuidKey } from '../../../worker/uuid-words.js';
import { readVerdicts } from '../index/verdict-scores.js';

function countedAt({ tenant, traces }: IncomingBatch, trace: number, agentNo: number): CountedRun {
  const numberAt = (column: number): number | null => {
    const value = traces.value(column, trace);
    return typeof value === 'number' ? value : null;
  };
  const success = traces.value(SUCCESS, trace);
  return {
    tenant,
    agentNo,
    status: invariant(numberAt(STATUS), 'status of a run'),
    kind: invariant(numberAt(KIND), 'kind of a run'),
    startedAt: invariant(numberAt(STARTED_AT), 'start of a run'),
    success: typeof success === 'boolean' ? success : null,
    cost: numberAt(TOTAL_COST_USD),
    durationMs: numberAt(DURATION_MS),
  };
}

function countedHeader(tenant: number, { agentNo, header }: StoredHeader): CountedRun {
  return {
    tenant,
    agentNo,
    kind: header.kind,
    status: header.status,
    startedAt: header.started_at,
    success: header.success,
    cost: header.total_cost_usd,
    durationMs: header.duration_ms,
  };
}

/** When a new trace was last active, for {@link RunChanges}. For a running one `RunState.activeAt` is used. */
function activeAt({ traces, receivedAt }: IncomingBatch, trace: number): Micros {
  const ended = traces.value(ENDED_AT, trace);
  const last = Math.max(
    Number(traces.value(STARTED_AT, trace)),
    typeof ended === 'number' ? ended : -Infinity,
  );
  return Math.min(last, receivedAt);
}

const KIND = indexOf(TRACE_WIRE, 'kind');
const STATUS = indexOf(TRACE_WIRE, 'status');
const STARTED_AT = indexOf(TRACE_WIRE, 'started_at');
const ENDED_AT = indexOf(TRACE_WIRE, 'ended_at');
const DURATION_MS = indexOf(TRACE_WIRE, 'duration_ms');
const SUCCESS = indexOf(TRACE_WIRE, 'success');
const TOTAL_COST_USD = indexOf(TRACE_WIRE, 'total_cost_usd');

/** The rows and results of one commit. */
export interface Applied {
  readonly rows: readonly Rows[];
  /** The header after each outcome change; null for a trace that is not stored. */
  readonly outcomes: ReadonlyMap<OutcomeChange, HeaderRow | null>;
  /** Number of new items of each batch: spans, and traces without spans. */
  readonly items: ReadonlyMap<IncomingBatch, number>;
  /** The batches with only new traces. Their buffers are unused after the commit. */
  readonly whole: readonly IncomingBatch[];
  /** Call after the commit. */
  committed(): void;
}

/** Completely new traces of a batch: the numbers of their agents by position. */
interface WholeTraces {
  readonly batch: IncomingBatch;
  readonly agentNos: ReadonlyMap<number, number>;
}

/** The data that a commit writes for a touched trace. */
interface WrittenTrace extends TouchedRows {
  readonly key: string;
  readonly trace: TouchedTrace;
  /** Whether its run ended in this commit. */
  readonly ends: boolean;
}

/**
 * Applies a group of changes to the stored data and returns the rows of its commit. In the common case, a complete trace with a new
 * id, columns are copied from the message to the tables. Traces that are stored or occur twice in the group are loaded, changed by
 * {@link TraceState}, and written as new versions; their new spans are copied from the message too. Runs only between commits, on
 * the only writing thread, so no concurrent write changes what it reads.
 */
export class ChangeApplier {
  readonly #traces: IdIndex;
  readonly #agents: Agents;
  readonly #recent: RecentEvents;
  readonly #services: Services;
  readonly #map: CommitMap;
  readonly #runs: RunChanges;
  readonly #idle: IdleRuns;
  readonly #known: KnownTraces;
  readonly #links: PromptLinks;
  readonly #connection: Connection;
  readonly #verdicts: IdIndex;
  readonly #changes: GroupChanges;
  readonly #completed: CompletedSpans;
  readonly #size: RunSize;
  readonly #truncatedRuns: TruncatedRuns;
  readonly #reloads: Reloads;
  readonly #storedAt: (capture: Capture) => StoredRuns<TraceState>;
  /** The traces that the last group touched. */
  #touched: ReadonlyMap<string, TouchedTrace> = new Map();

  /** @param connection the writer's */
  constructor(parts: {
    readonly connection: Connection;
    /** Which traces are stored, with the commit of the newest header of each. */
    readonly traces: IdIndex;
    readonly agents: Agents;
    /** Receives the events of every commit. */
    readonly recent: RecentEvents;
    readonly services: Services;
    /** Receives the changes of runs in every commit. */
    readonly runs: RunChanges;
    /** Receives the headers of every commit. */
    readonly idle: IdleRuns;
    /** Receives the changes of linked runs in every commit. */
    readonly prompts: LinkedPrompts;
    readonly runSize: RunSize;
    /** Receives the spans of truncated runs in every commit. */
    readonly truncatedRuns: TruncatedRuns;
    readonly reloads: Reloads;
    /** Which traces have scores that decide about their success. */
    readonly verdicts: IdIndex;
  }) {
    this.#connection = parts.connection;
    this.#verdicts = parts.verdicts;
    this.#size = parts.runSize;
    this.#traces = parts.traces;
    this.#agents = parts.agents;
    this.#recent = parts.recent;
    this.#services = parts.services;
    this.#map = new CommitMap(parts.services);
    this.#runs = parts.runs;
    this.#idle = parts.idle;
    this.#storedAt = (capture) => new StoredTraces(parts, capture);
    this.#truncatedRuns = parts.truncatedRuns;
    this.#reloads = parts.reloads;
    this.#known = new KnownTraces(parts.traces, parts.reloads, parts.runSize);
    this.#links = new PromptLinks(parts.connection, parts.prompts);
    this.#completed = new CompletedSpans(parts.runSize);
    this.#changes = new GroupChanges(parts.services, this.#links, parts.runSize);
  }

  /** @throws TooMuchToLoad if the group must be split */
  async apply(seq: number, changes: readonly TraceChange[], capture: Capture): Promise<Applied> {
    for (const change of changes)
      if (change.kind === 'batch' || change.kind === 'ahead') change.batch.numberNodes(this.#services);
    const sorted = classify(changes, this.#traces, this.#verdicts, this.#size);
    const { touched } = sorted;
    this.#touched = touched;
    const stored = this.#storedAt(capture);
    const states = await this.#known.load(touched, changes, stored);
    const fresh = newParts(sorted, states);
    await this.#loadCompleted({ touched, fresh, states }, changes, stored);
    await this.#links.load(sorted, states, capture);
    const items = new ItemsOfGroup();
    const facts = new CommitEvents(this.#agents);
    for (const [key, trace] of touched) this.#map.take(trace, states.get(key));
    for (const [key, state] of states) {
      state.truncateIfAsked();
      const trace = touched.get(key);
      if (trace !== undefined && isRecomputed(state, trace.parts))
        this.#reloads.recompute(trace.tenant, state.spans.size);
    }
    const group = { touched, fresh, states, items };
    const outcomes = await this.#changes.apply(group, stored);
    await this.#judge(touched, states, capture);
    await rewriteCounts(group, stored, this.#size);
    const whole = [...sorted.whole].map(([batch, traces]) => this.#applyWhole(batch, traces, items));
    for (const { batch, agentNos } of whole) facts.addWhole(batch, agentNos);
    const written = [...touched].flatMap(([key, trace]) => {
      const state = states.get(key);
      return state === undefined ? [] : this.#applyState(seq, key, trace, state, fresh);
    });
    for (const { trace, state, agentNo, ends } of written) if (ends) facts.addTouched(trace, state, agentNo);
    const rows = whole.flatMap(({ batch, agentNos }) =>
      wholeRows(seq, batch, [...agentNos.keys()], (trace) =>
        invariant(agentNos.get(trace), 'agent of a run'),
      ),
    );
    for (const batch of new Set([...sorted.whole.keys(), ...fresh.keys()])) {
      const touchedParts = fresh.get(batch);
      const traces = [...(sorted.whole.get(batch) ?? []), ...(touchedParts?.keys() ?? [])];
      traces.sort((a, b) => a - b);
      rows.push(...newSpanRows(seq, batch, traces, (trace) => touchedParts?.get(trace) ?? 0));
    }
    rows.push(...touchedRows(seq, written));
    rows.push(...agentRows(seq, this.#agents.added));
    rows.push(...this.#services.rows(seq), ...this.#map.rows(seq), ...this.#links.rows(seq));
    for (const change of changes)
      if (change.kind === 'batch') rows.push(...scoreRows(seq, change.batch.tenant, change.batch.scores));
    const events = facts.all(seq, changes);
    rows.push(...eventRows(events));
    return {
      rows,
      outcomes,
      items: items.byBatch,
      whole: whole.flatMap(({ batch, agentNos }) => (agentNos.size === batch.traces.rows ? batch : [])),
      committed: () => {
        for (const traces of whole) this.#wholeCommitted(seq, traces);
        for (const trace of written) this.#touchedCommitted(seq, trace);
        for (const [key, { tenant }] of touched) this.#linksCommitted(seq, key, tenant, states.get(key));
        for (const change of changes)
          if (change.kind === 'batch')
            noteVerdicts(this.#verdicts, change.batch.tenant, change.batch.scores, seq);
        this.#services.committed();
        this.#map.clear();
        this.#recent.add(events);
      },
    };
  }

  /** If this exceeds the limit, the loaded runs are kept in memory, because they are unchanged. @throws TooMuchToLoad */
  async #loadCompleted(
    group: LoadedGroup,
    changes: readonly TraceChange[],
    stored: StoredRuns<TraceState>,
  ): Promise<void> {
    try {
      await this.#completed.load(group, changes, stored);
    } catch (error) {
      // A run to truncate is not cached: it was loaded only for its truncation.
      for (const [key, state] of group.states) if (!state.isToTruncate) this.#known.remember(key, state);
      throw error;
    }
  }

  /** Drops cached traces that started before this time, because they are being removed from the tables. */
  forgetBefore(time: Micros): void {
    this.#known.forgetBefore(time);
  }

  /** After a failed commit: discards the state computed for it. */
  rollback(): void {
    this.#known.forget(this.#touched.keys());
    this.#services.rollback();
    this.#map.clear();
    this.#links.clear();
  }

  #applyWhole(batch: IncomingBatch, traces: readonly number[], items: ItemsOfGroup): WholeTraces {
    const agentNos = new Map<number, number>();
    const names = new Map<number, string>();
    for (const trace of traces) {
      const agent = this.#agents.named(batch.tenant, {
        name: batch.agent(trace),
        kind: kindAt(batch, trace),
        at: batch.receivedAt,
        isCertain: namesItsAgentAt(batch, trace),
      });
      agentNos.set(trace, agent.agent_no);
      names.set(trace, agent.name);
    }
    for (const trace of traces) {
      items.add(batch, Math.max(1, batch.end(trace) - batch.start(trace)));
      if (batch.usesPrompts) this.#links.linkSpans(batch.traceKey(trace), batch, trace);
    }
    this.#map.addWhole(batch, names);
    return { batch, agentNos };
  }

  /** Applies scores that decide about the success of runs, in whatever order run, root and score arrived. */
  async #judge(
    touched: ReadonlyMap<string, TouchedTrace>,
    states: ReadonlyMap<string, TraceState>,
    capture: Capture,
  ): Promise<void> {
    if (this.#verdicts.size === 0) return;
    const wanted = new Map<number, Map<string, TraceState>>();
    for (const [key, { tenant, words, offset }] of touched) {
      const state = states.get(key);
      if (state === undefined || isJudged(state.header)) continue;
      if (this.#verdicts.find(tenant, words, offset) === 0) continue;
      const ofTenant = wanted.get(tenant) ?? new Map<string, TraceState>();
      wanted.set(tenant, ofTenant.set(formatUuid(words, offset), state));
    }
    for (const [tenant, ofTenant] of wanted) {
      const spans = [...ofTenant.values()].flatMap((state) => state.judgedSpans());
      const found = await readVerdicts(this.#connection, capture, tenant, [...ofTenant.keys()], spans);
      for (const [id, verdicts] of found) ofTenant.get(id)?.judge(verdicts);
    }
  }

  /** The rows that a commit writes for a touched trace; empty if it is unchanged. */
  #applyState(
    seq: number,
    key: string,
    trace: TouchedTrace,
    state: TraceState,
    fresh: NewParts,
  ): WrittenTrace[] {
    const { spans, writesHeader, ends } = state.finish(seq);
    const name = state.agent;
    state.agent = this.#agents.nameFor(trace.tenant, name);
    this.#map.put(trace, state);
    if (!writesHeader) {
      // Nothing is written, but a later change may need the loaded run.
      this.#known.remember(key, state);
      return [];
    }
    const { agent_no: agentNo } = this.#agents.named(trace.tenant, {
      name,
      kind: state.header.kind,
      at: state.lastSeenAt,
      isCertain: state.namesItsAgent,
    });
    const areSpansNew = trace.parts.some((part) => isOfBatch(part) && fresh.get(part.batch)?.has(part.trace));
    return [{ key, trace, tenant: trace.tenant, state, agentNo, spans, areSpansNew, ends }];
  }

  #wholeCommitted(seq: number, { batch, agentNos }: WholeTraces): void {
    for (const [trace, agentNo] of agentNos) {
      this.#traces.put(batch.tenant, batch.traceIds, trace * 4, seq);
      const run = countedAt(batch, trace, agentNo);
      const key = this.#links.isEmpty ? '' : batch.traceKey(trace);
      const links = this.#links.committed(seq, key, null, run);
      // Only a running run is cached, because it will receive more spans.
      if (!isRunningAt(batch, trace)) {
        this.#runs.change(null, run, activeAt(batch, trace));
        continue;
      }
      const state = wholeState(batch, trace, { seq, agentNo, size: this.#size });
      state.agent = this.#agents.byNumber(agentNo)?.name ?? state.agent;
      this.#runs.change(null, run, state.activeAt);
      state.links = links;
      this.#idle.written(seq, state.header, state.lastSeenAt);
      this.#known.remember(batch.traceKey(trace), state);
    }
  }

  #touchedCommitted(seq: number, { key, trace, state, agentNo, spans }: WrittenTrace): void {
    const { tenant, words, offset } = trace;
    const { stored: before } = state;
    this.#traces.put(tenant, words, offset, seq);
    const after = state.committed(seq, agentNo, spans);
    if (state.truncated !== null) this.#truncatedRuns.committed(seq, trace, state.truncated);
    const [runBefore, runAfter] = [before && countedHeader(tenant, before), countedHeader(tenant, after)];
    this.#runs.change(runBefore, runAfter, state.activeAt);
    state.links = this.#links.committed(seq, key, runBefore, runAfter) ?? state.links;
    this.#idle.written(seq, state.header, state.lastSeenAt);
    this.#known.remember(key, state);
  }

  /** For touched traces that are unchanged or not stored. */
  #linksCommitted(seq: number, key: string, tenant: number, state: TraceState | undefined): void {
    const run = state?.stored ? countedHeader(tenant, state.stored) : null;
    const links = this.#links.committed(seq, key, run, run);
    if (state !== undefined && links !== null) state.links = links;
  }
}

/**
 * Rewrites spans whose counts changed in this group (`runs/rules/usage.ts`): new spans in the columns of the message,
 * stored ones as new versions. Reads at most {@link RunSize.commitPayloadBytes} of payloads for the whole group; the rest is
 * written with the next commit that touches the run. The totals of the run do not depend on it.
 */
async function rewriteCounts(
  { touched, fresh, states }: LoadedGroup,
  stored: StoredRuns<TraceState>,
  { commitPayloadBytes }: RunSize,
): Promise<void> {
  let left = commitPayloadBytes;
  for (const [key, trace] of touched) {
    const state = states.get(key);
    const rewrites = state?.countsRewrites() ?? [];
    if (state === undefined || rewrites.length === 0) continue;
    const isToRead = ({ span_id: id }: CountsRewrite): boolean => {
      const span = state.find(id);
      return span !== undefined && span.seq > 0 && span.row === undefined;
    };
    const toRead = rewrites.filter(isToRead);
    const keys = toRead.map(({ span_id: id }) => id);
    const read =
      left > 0 && keys.length > 0
        ? await stored.readWhole(trace.tenant, state, keys, left)
        : { keys: 0, bytes: 0 };
    left -= read.bytes;
    const unread = new Set(toRead.slice(read.keys));
    const written = rewrites.filter((one) => !unread.has(one));
    for (const one of written) state.rewriteCounts(one);
    rewriteInBatches(trace, fresh, written);
  }
}

function rewriteInBatches(
  { parts }: TouchedTrace,
  fresh: NewParts,
  rewrites: readonly CountsRewrite[],
): void {
  const counts = new Map(rewrites.map((one) => [one.span_id, one.counts]));
  for (const part of parts) {
    if (!isOfBatch(part) || fresh.get(part.batch)?.has(part.trace) !== true) continue;
    const { batch, trace } = part;
    for (let row = batch.start(trace); row < batch.end(trace); row++) {
      const now = counts.get(uuidKey(batch.spanIds, row * 4));
      if (now !== undefined) batch.rewriteCounts(row, now);
    }
  }
}

/** The state of a new trace that was just stored. */
function wholeState(
  batch: IncomingBatch,
  trace: number,
  { seq, agentNo, size }: { readonly seq: number; readonly agentNo: number; readonly size: RunSize },
): TraceState {
  const [start, end] = [batch.start(trace), batch.end(trace)];
  const named = headerAt(batch, trace);
  const stored = { seq, agentNo, header: named.header };
  const place = {
    lastSeenAt: batch.receivedAt,
    stored,
    commits: start === end ? CommitRanges.NONE : CommitRanges.of(seq),
    isMapped: batch.map !== null,
    hasEnded: !isRunningAt(batch, trace),
  };
  const state = new TraceState(named, place, size);
  const spans = newSpansAt(batch, trace, (row) => batch.nodeAt(row));
  for (const [line, span] of spans.entries()) {
    span.seq = seq;
    span.line = line;
    span.changed = false;
  }
  state.spans = FollowedSpans.of(spans);
  return state;
}
