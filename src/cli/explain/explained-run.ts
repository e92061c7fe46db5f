import { itemAt } from '../../signal/checked.js';
import { moneyToNumber } from '../../signal/money.js';
import type { LogRecord } from '../../signal/log-record.js';
import { parseTags } from '../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES } from '../../signal/span.js';
import { formatTime } from '../../signal/time.js';
import type { ExplainedRun } from './explained.js';
import { eventsBySpan } from './events-by-span.js';
import { explainedSpan } from './explained-span.js';
import type { GroundsOfSpans } from './grounds.js';
import { groundsOfRun } from './run-grounds.js';
import type { StoredRun } from './stored-runs.js';
import { inOrder } from './tree-order.js';

/** A run as Jackdaw would show it, and why. @param logs the records that belong to it */
export function explainedRun(
  run: StoredRun,
  grounds: GroundsOfSpans,
  logs: readonly LogRecord[],
): ExplainedRun {
  const { header, agent, map } = run;
  const events = eventsBySpan(logs);
  const spans = inOrder(run.spans).map(({ span, depth }) =>
    explainedSpan(span, depth, grounds, events.get(span.row.span_id) ?? []),
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
    span_count: spans.length,
    log_count: logs.length,
    service_map: map,
    from: groundsOfRun(run, spans),
    spans,
  };
}
