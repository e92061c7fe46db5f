import { NO_PAYLOAD } from '../../../runs/rules/payload.js';
import type { RunId, RunToRead, SpanIds, StoredRun, StoredRuns } from '../../../runs/stored-runs.js';
import type { TruncatedRuns } from './truncated-runs.js';
import { selectList } from '../../schema/table.js';
import { HEADER_COLUMNS, SPANS, SPAN_WIRE, TRACES } from '../../schema/tables.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import type { Row, Value } from '../files/plain-rows.js';
import { CommitRanges, conditionsOn, narrowed, ofCommits } from '../segments/commit-ranges.js';
import { loadLongRun } from './load-long-run.js';
import { firstPayloads } from './payloads.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { pickRow, spanStateOf } from '../segments/stored-rows.js';
import { FACT_COLUMNS } from '../segments/fact-columns.js';
import { TruncatedSpans } from '../../../runs/spans/truncated-spans.js';
import type { SpanState } from '../../../runs/spans/span-state.js';
import type { RunSize } from './run-size.js';
import { FollowedSpans } from '../../../runs/spans/followed-spans.js';
import { TraceState } from './trace-state.js';

/** The columns of a header that store the commits of the spans of its trace. */
export const COMMITS = 'first_seq, last_seq, commits';

/** Stored runs, read over the writer's connection, as one commit sees them. */
export class StoredTraces implements StoredRuns<TraceState> {
  readonly #connection: Connection;
  readonly #agents: Agents;
  readonly #truncated: TruncatedRuns;
  readonly #size: RunSize;
  readonly #capture: Capture;

  constructor(
    parts: {
      readonly connection: Connection;
      readonly agents: Agents;
      readonly truncatedRuns: TruncatedRuns;
      readonly runSize: RunSize;
    },
    capture: Capture,
  ) {
    this.#connection = parts.connection;
    this.#agents = parts.agents;
    this.#truncated = parts.truncatedRuns;
    this.#size = parts.runSize;
    this.#capture = capture;
  }

  readHeaders(tenant: number, wanted: readonly RunToRead[]): Promise<Map<string, StoredTrace>> {
    return loadHeaders(this.#connection, this.#capture, this.#agents, tenant, wanted, this.#size);
  }

  readFacts(tenant: number, runs: readonly StoredTrace[]): Promise<void> {
    return loadSpansOf(this.#connection, this.#capture, tenant, runs, this.#size);
  }

  readSpans(run: RunId, state: TraceState, spans: readonly SpanIds[]): Promise<void> {
    return this.#truncated.read(run, state, spans, this.#capture);
  }

  readWhole(
    tenant: number,
    state: TraceState,
    keys: readonly string[],
    maxBytes: number,
  ): Promise<{ readonly keys: number; readonly bytes: number }> {
    return loadWhole(this.#connection, this.#capture, tenant, state, keys, maxBytes);
  }
}

type StoredTrace = StoredRun<TraceState>;

/** Loads the headers of one user's traces. @returns the stored ones, by trace id */
async function loadHeaders(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  wanted: readonly RunToRead[],
  size: RunSize,
): Promise<Map<string, StoredTrace>> {
  const ids = uuidList(wanted.map((trace) => trace.id));
  const commits = ofCommits(wanted.map((trace) => trace.found));
  const where = narrowed(commits, `tenant = ${tenant} AND trace_id IN (${ids})`);
  const headers = await connection.rows(
    `SELECT seq, agent_no, span_count, closed_seq, closed, ${COMMITS}, is_mapped, has_ended, epoch_us(heard_at) AS heard_at, ${selectList(HEADER_COLUMNS)} FROM ${relation(capture, TRACES, where)} ORDER BY seq`,
  );
  // In commit order, because the commits read for one trace may contain an older version of another.
  const found = new Map<string, StoredTrace>();
  for (const row of headers) {
    const header = pickRow(row, HEADER_COLUMNS);
    const agentNo = Number(row.agent_no);
    const agent = agents.byNumber(agentNo)?.name ?? '';
    const place = {
      lastSeenAt: Number(row.heard_at),
      stored: { seq: Number(row.seq), agentNo, header },
      commits: commitsAt(row),
      isMapped: row.is_mapped === true,
      hasEnded: row.has_ended === true,
    };
    const state = new TraceState({ header, agent }, place, size);
    const spans = Number(row.span_count);
    found.set(header.trace_id, { state, spans });
    if (typeof row.closed !== 'string') continue;
    const summary = { truncatedSeq: Number(row.closed_seq), serialized: row.closed };
    state.spans = TruncatedSpans.stored({ size: spans, agent, ...summary });
  }
  return found;
}

/** Loads the spans of one user's traces into their states, without payloads. */
async function loadSpansOf(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traces: readonly StoredTrace[],
  size: RunSize,
): Promise<void> {
  const few = new Map<string, TraceState>();
  for (const { state, spans } of traces) {
    const { header, commits } = state;
    if (spans <= size.few) few.set(header.trace_id, state);
    else
      state.spans = FollowedSpans.of(
        await loadLongRun(connection, capture, tenant, header.trace_id, commits),
      );
  }
  if (few.size > 0) await loadSpans(connection, capture, tenant, few);
}

async function loadSpans(
  connection: Connection,
  capture: Capture,
  tenant: number,
  states: ReadonlyMap<string, TraceState>,
): Promise<void> {
  const places = [...states.values()].map(({ commits }) => commits);
  const ids = uuidList([...states.keys()]);
  const where = conditionsOn(places).map((commits) =>
    narrowed(commits, `tenant = ${tenant} AND trace_id IN (${ids})`),
  );
  const rows = await connection.rows(
    `SELECT trace_id::VARCHAR AS trace_id, seq, line, node_no, ${selectList(FACT_COLUMNS)} FROM ${relation(capture, SPANS, where)} ORDER BY seq, line`,
  );
  const found = new Map<string, Map<string, SpanState>>();
  for (const stored of rows) {
    const span = spanStateOf(stored, pickRow(stored, FACT_COLUMNS));
    const traceId = String(stored.trace_id);
    const spans = found.get(traceId) ?? new Map<string, SpanState>();
    found.set(traceId, spans);
    // In commit order, so that the newest version wins.
    spans.set(span.span_id, span);
  }
  for (const [traceId, spans] of found) {
    const state = states.get(traceId);
    if (state !== undefined) state.spans = FollowedSpans.of(spans.values());
  }
}

/** Implements {@link StoredRuns.readWhole}. */
async function loadWhole(
  connection: Connection,
  capture: Capture,
  tenant: number,
  state: TraceState,
  spanKeys: readonly string[],
  maxBytes: number,
): Promise<{ readonly keys: number; readonly bytes: number }> {
  const wanted = spanKeys
    .flatMap((key) => state.find(key) ?? [])
    .filter((span) => span.row === undefined && span.seq > 0);
  if (wanted.length === 0) return { keys: spanKeys.length, bytes: 0 };
  const of = { places: wanted, areAll: state.spans.size === wanted.length };
  const traceId = state.header.trace_id;
  const payloads = await firstPayloads(connection, capture, tenant, traceId, of, maxBytes);
  const spans = wanted.slice(0, payloads.spans);
  const commits = ofCommits(spans.map(({ seq }) => seq));
  const where = narrowed(commits, `tenant = ${tenant} AND trace_id = ${uuidList([traceId])}`);
  const rows = await connection.rows(
    `SELECT seq, line, ${selectList(SPAN_WIRE)} FROM ${relation(capture, SPANS, where)}`,
  );
  const wholes = new Map(rows.map((row) => [placeOf(row), pickRow(row, SPAN_WIRE)]));
  for (const span of spans) {
    span.row = wholes.get(placeOf(span));
    span.payload = payloads.lines.get(span.seq)?.get(span.line) ?? NO_PAYLOAD;
  }
  const next = wanted[payloads.spans];
  const keys = next === undefined ? spanKeys.length : spanKeys.indexOf(next.span_id);
  return { keys, bytes: payloads.bytes };
}

function placeOf({ seq, line }: { readonly seq?: Value; readonly line?: Value }): string {
  return `${Number(seq)}/${Number(line)}`;
}

/** @param row with the columns of {@link COMMITS} */
export function commitsAt(row: Row): CommitRanges {
  const { first_seq: first, last_seq: last, commits } = row;
  return CommitRanges.stored({
    first: Number(first),
    last: Number(last),
    printed: typeof commits === 'string' ? commits : null,
  });
}

/** Only for ids formatted from their binary form, so that nothing needs to be escaped. */
function uuidList(ids: readonly string[]): string {
  return ids.map((id) => `'${id}'::UUID`).join(', ');
}
