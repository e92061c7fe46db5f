import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { itemAt } from '../../signal/checked.js';
import { moneyToNumber } from '../../signal/money.js';
import {
  AGENT_SOURCES,
  RUN_KINDS,
  RUN_STATUSES,
  SPAN_TYPES,
  type AgentHint,
  type RunKind,
  type RunStatus,
  type SpanType,
} from '../../signal/span.js';
import { formatTime } from '../../signal/time.js';
import type { Grounds, GroundsOfSpans } from './grounds.js';
import type { RunMap, StoredRun, StoredSpan } from './stored-runs.js';
import { unreadKeys } from './unread-keys.js';

/** A run as Jackdaw would show it, and why. Fields have the names of the API; this is what `--json` prints. */
export interface ExplainedRun {
  readonly trace_id: string;
  readonly agent_name: string;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly error_message: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly success: boolean | null;
  readonly outcome: string | null;
  readonly total_tokens: number | null;
  /** US dollars. */
  readonly total_cost_usd: number | null;
  readonly session_id: JsonValue;
  readonly user_id: JsonValue;
  readonly tags: JsonValue;
  readonly span_count: number;
  /** Records of logs that belong to it. */
  readonly log_count: number;
  readonly service_map: RunMap;
  /** What gave the values above, by their names. */
  readonly from: Readonly<Record<string, RunGround>>;
  /** Each before those below it. */
  readonly spans: readonly ExplainedSpan[];
}

/** A value of a run follows from one of its spans, or from somebody who declared it. */
export interface RunGround {
  readonly span_id: string | null;
  readonly source: string;
}

export interface ExplainedSpan {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  /** How many spans are above it. */
  readonly depth: number;
  readonly type: SpanType;
  readonly name: string;
  readonly status: RunStatus;
  readonly error_message: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly model: string | null;
  readonly provider: JsonValue;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
  /** Parts of the tokens. */
  readonly usage: JsonValue;
  /** US dollars. */
  readonly cost_usd: number | null;
  readonly session_id: JsonValue;
  readonly user_id: JsonValue;
  readonly tags: JsonValue;
  readonly input_data: JsonObject | null;
  readonly output_data: JsonObject | null;
  /** What it says of its run's agent. */
  readonly agent_hint: AgentHint | null;
  /** And of its kind. */
  readonly run_kind: RunKind | null;
  /** What gave the values above, by their names: the key of an attribute, or a rule in words. */
  readonly from: Grounds;
  /** Keys of attributes from which nothing was taken. They are kept in the span's metadata like all others. */
  readonly unread: readonly string[];
}

/** @param logCount records of logs that belong to the run */
export function explainedRun(run: StoredRun, grounds: GroundsOfSpans, logCount: number): ExplainedRun {
  const { header, agent, map } = run;
  const spans = inOrder(run.spans).map(({ span, depth }) => explainedSpan(span, depth, grounds));
  const session = firstSaid(spans, 'session_id');
  const user = firstSaid(spans, 'user_id');
  const tags = firstSaid(spans, 'tags');
  return {
    trace_id: run.traceId,
    agent_name: agent,
    kind: itemAt(RUN_KINDS, header.kind),
    status: itemAt(RUN_STATUSES, header.status),
    error_message: header.error_message,
    started_at: formatTime(header.started_at),
    ended_at: header.ended_at === null ? null : formatTime(header.ended_at),
    duration_ms: header.duration_ms,
    success: header.success,
    outcome: header.outcome,
    total_tokens: header.total_tokens,
    total_cost_usd: header.total_cost_usd === null ? null : moneyToNumber(header.total_cost_usd),
    session_id: session?.session_id ?? null,
    user_id: user?.user_id ?? null,
    tags: tags?.tags ?? null,
    span_count: spans.length,
    log_count: logCount,
    service_map: map,
    from: withoutAbsent({
      agent_name: agentGround(agent, spans),
      kind: kindGround(spans),
      status: rootGround(spans, 'status'),
      error_message: header.error_message === null ? undefined : rootGround(spans, 'error_message'),
      session_id: groundOf(session, 'session_id'),
      user_id: groundOf(user, 'user_id'),
      tags: groundOf(tags, 'tags'),
    }),
    spans,
  };
}

function explainedSpan({ row, records }: StoredSpan, depth: number, grounds: GroundsOfSpans): ExplainedSpan {
  // What came first stays, and what is missing there is filled.
  const metadata = firstOf(records.map((record) => record.metadata ?? {}));
  const from = firstOf(records.map((record) => grounds.of(record)));
  // What ended it says how it went.
  Object.assign(from, ended(grounds.of(itemAt(records, records.length - 1))));
  if (row.cost_usd !== null && from.cost_usd === undefined)
    from.cost_usd = 'processor cost, by its list of prices';
  return {
    span_id: row.span_id,
    parent_span_id: row.parent_span_id,
    depth,
    type: itemAt(SPAN_TYPES, row.type),
    name: row.name,
    status: itemAt(RUN_STATUSES, row.status),
    error_message: row.error_message,
    started_at: formatTime(row.started_at),
    ended_at: row.ended_at === null ? null : formatTime(row.ended_at),
    duration_ms: row.duration_ms,
    model: row.model,
    provider: metadata.provider ?? null,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    total_tokens: row.total_tokens,
    usage: metadata.usage ?? null,
    cost_usd: row.cost_usd === null ? null : moneyToNumber(row.cost_usd),
    session_id: metadata.session_id ?? null,
    user_id: metadata.user_id ?? null,
    tags: metadata.tags ?? null,
    input_data: records.find(({ input_data }) => input_data !== null)?.input_data ?? null,
    output_data: records.find(({ output_data }) => output_data !== null)?.output_data ?? null,
    agent_hint:
      row.agent_source === null || row.agent_name === null
        ? null
        : { source: itemAt(AGENT_SOURCES, row.agent_source), name: row.agent_name },
    run_kind: row.run_kind === null ? null : itemAt(RUN_KINDS, row.run_kind),
    from,
    unread: unreadKeys(metadata),
  };
}

function ended({ status, error_message: error }: Grounds): Grounds {
  return {
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error_message: error }),
  };
}

/** Depth first, each span before its children, siblings by their start. Rings of parents, which nothing leads to, come last. */
function inOrder(spans: readonly StoredSpan[]): { readonly span: StoredSpan; readonly depth: number }[] {
  const sorted = spans.toSorted(
    (a, b) => a.row.started_at - b.row.started_at || (a.row.span_id < b.row.span_id ? -1 : 1),
  );
  const ids = new Set(sorted.map(({ row }) => row.span_id));
  const children = new Map<string | null, StoredSpan[]>();
  for (const span of sorted) {
    const parent = span.row.parent_span_id;
    const under = parent !== null && ids.has(parent) ? parent : null;
    children.set(under, [...(children.get(under) ?? []), span]);
  }
  const found: { span: StoredSpan; depth: number }[] = [];
  const seen = new Set<string>();
  const walk = (from: readonly StoredSpan[]): void => {
    const waiting = from.toReversed().map((span) => ({ span, depth: 0 }));
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { span, depth } = next;
      if (seen.has(span.row.span_id)) continue;
      seen.add(span.row.span_id);
      found.push(next);
      for (const child of (children.get(span.row.span_id) ?? []).toReversed())
        waiting.push({ span: child, depth: depth + 1 });
    }
  };
  walk(children.get(null) ?? []);
  for (const span of sorted) walk([span]);
  return found;
}

/** The span by whose name the run goes: of those that give it the one with the best source, the topmost. */
function agentGround(agent: string, spans: readonly ExplainedSpan[]): RunGround {
  const rank = ({ agent_hint: hint }: ExplainedSpan): number =>
    hint === null ? Infinity : AGENT_SOURCES.indexOf(hint.source);
  const [span] = spans
    .filter(({ agent_hint: hint }) => hint?.name === agent)
    .toSorted((a, b) => rank(a) - rank(b) || a.depth - b.depth);
  if (span === undefined) return { span_id: null, source: 'a header that was declared' };
  return { span_id: span.span_id, source: span.from.agent ?? span.agent_hint?.source ?? '' };
}

/** The first span that says what the run is. */
function kindGround(spans: readonly ExplainedSpan[]): RunGround {
  const span =
    spans.find(({ run_kind: kind }) => kind === 'agent') ?? spans.find(({ run_kind: kind }) => kind !== null);
  if (span === undefined) return { span_id: null, source: 'nothing says that it is something else' };
  const what = span.run_kind === 'agent' ? 'an agent, a model or a tool is at work' : 'no agent is at work';
  return { span_id: span.span_id, source: what };
}

function rootGround(spans: readonly ExplainedSpan[], name: string): RunGround | undefined {
  return groundOf(
    spans.find(({ parent_span_id: parent }) => parent === null),
    name,
  );
}

function groundOf(span: ExplainedSpan | undefined, name: string): RunGround | undefined {
  const source = span?.from[name];
  return span === undefined || source === undefined ? undefined : { span_id: span.span_id, source };
}

function firstSaid(
  spans: readonly ExplainedSpan[],
  name: 'session_id' | 'user_id' | 'tags',
): ExplainedSpan | undefined {
  return spans.filter((span) => span[name] !== null).toSorted((a, b) => a.depth - b.depth)[0];
}

function firstOf<Value>(objects: readonly Readonly<Record<string, Value>>[]): Record<string, Value> {
  return Object.fromEntries(objects.toReversed().flatMap((object) => Object.entries(object)));
}

function withoutAbsent<Value>(values: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, Value] => entry[1] !== undefined),
  );
}
