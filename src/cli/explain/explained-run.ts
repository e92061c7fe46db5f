import { topmost } from '../../runs/rules/header-of-spans.js';
import type { HeaderRow } from '../../runs/rules/rows.js';
import { keyOf } from '../../runs/rules/span-facts.js';
import { judged, weightOf } from '../../runs/rules/verdicts.js';
import { itemAt } from '../../signal/checked.js';
import { moneyToNumber } from '../../signal/money.js';
import type { LogRecord } from '../../signal/log-record.js';
import { parseTags } from '../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES } from '../../signal/span.js';
import { loggedScore, verdictIn, type ScoreRecord } from '../../signal/score.js';
import { formatTime } from '../../signal/time.js';
import type { ExplainedRun } from './explained.js';
import { explainedSpan } from './explained-span.js';
import type { GroundsOfSpans } from '../../otlp/map/grounds.js';
import { groundsOfRun } from './run-grounds.js';
import type { StoredRun, StoredSpan } from './stored-runs.js';
import { loggedEventName, type LoggedEvent } from '../../signal/logged-event.js';

/**
 * Explains how Jackdaw would show a run.
 *
 * @param logs the records that belong to the run
 */
export function explainedRun(
  run: StoredRun,
  grounds: GroundsOfSpans,
  logs: readonly LogRecord[],
): ExplainedRun {
  const { agent, map } = run;
  const events = eventsBySpan(logs);
  const scores = logs.flatMap((record) => loggedScore(record, record.timestamp) ?? []);
  const header = judgedHeader(run, scores);
  const spans = inOrder(run.spans).map(({ span, depth }) =>
    explainedSpan(span, depth, grounds, {
      events: events.get(span.row.span_id) ?? [],
      scores: scores.filter((score) => score.span_id === span.row.span_id),
    }),
  );
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
    session_id: header.session_id,
    user_id: header.user_id,
    tags: header.tags === null ? [] : [...parseTags(header.tags)],
    environment: header.environment,
    release: header.release,
    agent_version: header.agent_version,
    repository: header.repository,
    span_count: spans.length,
    log_count: logs.length,
    service_map: map,
    from: groundsOfRun(run, header, spans),
    spans,
  };
}

/** The run's header with the verdict of scores that came separately. */
function judgedHeader({ header, spans }: StoredRun, logged: readonly ScoreRecord[]): HeaderRow {
  const sent = spans.flatMap(({ records }) => records.flatMap(({ scores }) => scores ?? []));
  const verdicts = [...sent, ...logged].flatMap((score) => {
    const verdict = score.trace_id === null ? null : verdictIn(score);
    if (verdict === null) return [];
    return {
      ...verdict,
      id: score.id,
      at: score.at,
      span: score.span_id === null ? null : keyOf(score.span_id),
    };
  });
  const top = topmost(spans.map(({ facts }) => facts));
  const factsOf = (key: string) => spans.find(({ facts }) => facts.span_id === key)?.facts;
  return judged(header, verdicts, (key) => weightOf(factsOf(key), top));
}

/** The GenAI events among log records by their span, sorted by time, then by arrival. */
function eventsBySpan(records: readonly LogRecord[]): ReadonlyMap<string, readonly LoggedEvent[]> {
  const bySpan = new Map<string, LoggedEvent[]>();
  for (const record of records.toSorted((a, b) => a.timestamp - b.timestamp)) {
    const { span_id: span, timestamp, body, attributes } = record;
    const name = loggedEventName(record);
    if (name === null || span === null) continue;
    const known = bySpan.get(span);
    const event = { name, timestamp, body, attributes };
    if (known === undefined) bySpan.set(span, [event]);
    else known.push(event);
  }
  return bySpan;
}

/** Orders spans depth first, siblings by start time. Spans in parent cycles, which have no root, come last. */
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
