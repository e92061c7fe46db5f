import { itemAt } from '../../../signal/checked.js';
import { sumToNumber, type Usd } from '../../../signal/money.js';
import { parseTags } from '../../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES } from '../../../signal/span.js';
import type { RunSummary } from '../../runs.js';
import { selectList } from '../../table.js';
import { HEADER_COLUMNS, TRACES } from '../../tables.js';
import type { Agents } from '../figures/agents.js';
import type { Row, Value } from '../files/connection.js';

const SHOWN = new Set([
  'trace_id',
  'kind',
  'session_id',
  'user_id',
  'tags',
  'status',
  'started_at',
  'ended_at',
  'duration_ms',
  'success',
  'outcome',
  'error_message',
  'total_tokens',
  'total_cost_usd',
  'sample_rate',
  'agent_no',
  'span_count',
]);

/** The columns of a run summary. */
export const RUN_COLUMNS = selectList(
  [...TRACES.store, ...HEADER_COLUMNS].filter((column) => SHOWN.has(column.name)),
);

/** @param row selected by {@link RUN_COLUMNS} */
export function runSummary(row: Row, agents: Agents): RunSummary {
  const agent = agents.byNumber(Number(row.agent_no));
  return {
    trace_id: String(row.trace_id),
    agent_id: agent?.id ?? '',
    agent_name: agent?.name ?? '',
    kind: itemAt(RUN_KINDS, Number(row.kind)),
    session_id: text(row.session_id),
    user_id: text(row.user_id),
    tags: typeof row.tags === 'string' ? parseTags(row.tags) : [],
    status: itemAt(RUN_STATUSES, Number(row.status)),
    started_at: Number(row.started_at),
    ended_at: number(row.ended_at),
    duration_ms: number(row.duration_ms),
    success: typeof row.success === 'boolean' ? row.success : null,
    outcome: text(row.outcome),
    error_message: text(row.error_message),
    total_tokens: number(row.total_tokens),
    total_cost_usd: number(row.total_cost_usd),
    sample_rate: number(row.sample_rate),
    span_count: Number(row.span_count),
  };
}

export function number(value: Value | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

export function text(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** @param value a sum of nano-USD as a text */
export function sumOf(value: Value | undefined): Usd | null {
  return typeof value === 'string' ? sumToNumber(BigInt(value)) : null;
}
