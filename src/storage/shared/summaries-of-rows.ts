import { itemAt } from '../../signal/checked.js';
import { moneyToNumber, sumToNumber } from '../../signal/money.js';
import { parseTags } from '../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES, SPAN_TYPES } from '../../signal/span.js';
import type { EstimatedRuns, ModelPerformance, RunSummary, ToolUsage } from '../contracts/runs.js';
import type { SpanHead } from './serialize-span.js';

/** A row by column name, as every engine returns it: codes instead of words, times in microseconds. */
type Row = Readonly<Record<string, unknown>>;

/** @param row a header with `span_count` @param agent undefined if its number is unknown */
export function summaryOfRow(
  row: Row,
  agent: { readonly id: string; readonly name: string } | undefined,
): RunSummary {
  return {
    trace_id: String(row.trace_id),
    agent_id: agent?.id ?? '',
    agent_name: agent?.name ?? '',
    kind: itemAt(RUN_KINDS, Number(row.kind)),
    session_id: textOf(row.session_id),
    user_id: textOf(row.user_id),
    tags: typeof row.tags === 'string' ? parseTags(row.tags) : [],
    environment: textOf(row.environment),
    release: textOf(row.release),
    agent_version: textOf(row.agent_version),
    repository: textOf(row.repository),
    status: itemAt(RUN_STATUSES, Number(row.status)),
    started_at: Number(row.started_at),
    ended_at: numberOf(row.ended_at),
    duration_ms: numberOf(row.duration_ms),
    success: typeof row.success === 'boolean' ? row.success : null,
    outcome: textOf(row.outcome),
    error_message: textOf(row.error_message),
    total_tokens: numberOf(row.total_tokens),
    total_cost_usd: numberOf(row.total_cost_usd),
    sample_rate: numberOf(row.sample_rate),
    span_count: Number(row.span_count),
  };
}

/** @param row a span of the trace */
export function spanHeadOfRow(traceId: string, row: Row): SpanHead {
  return {
    span_id: String(row.span_id),
    trace_id: traceId,
    parent_span_id: textOf(row.parent_span_id),
    type: itemAt(SPAN_TYPES, Number(row.type)),
    name: String(row.name),
    status: itemAt(RUN_STATUSES, Number(row.status)),
    started_at: Number(row.started_at),
    ended_at: numberOf(row.ended_at),
    duration_ms: numberOf(row.duration_ms),
    model: textOf(row.model),
    input_tokens: numberOf(row.input_tokens),
    output_tokens: numberOf(row.output_tokens),
    total_tokens: numberOf(row.total_tokens),
    cost_usd: numberOf(row.cost_usd),
    error_message: textOf(row.error_message),
    ...(typeof row.same_as === 'string' && { same_as: row.same_as }),
  };
}

/** @param row the estimates of some runs: `counted_runs`, `sampled_runs` and `e_…` */
export function estimateOfRow(row: Row): EstimatedRuns {
  return {
    counted_runs: Number(row.counted_runs),
    sampled_runs: Number(row.sampled_runs),
    total_runs: Number(row.e_runs),
    success_count: Number(row.e_successes),
    failure_count: Number(row.e_failures),
    failed_runs: Number(row.e_failed),
    finished_runs: Number(row.e_finished),
    total_cost: moneyToNumber(Number(row.e_cost)),
    total_tokens: Number(row.e_tokens),
    avg_latency_ms: numberOf(row.e_latency),
  };
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** @param byAgent rows of each tool by `agent_no`, in the order shown */
export function toolsOfRows(
  rows: readonly Row[],
  byAgent: readonly Row[],
  agentOf: (agentNo: number) => { readonly id: string; readonly name: string } | undefined,
): ToolUsage[] {
  return rows.map((row) => ({
    tool: String(row.name),
    calls: Number(row.calls),
    failed_calls: Number(row.failed),
    p50_ms: numberOf(row.p50_ms),
    p95_ms: numberOf(row.p95_ms),
    last_call_at: Number(row.last_at),
    agents: byAgent.flatMap((of) => {
      const agent = of.name === row.name ? agentOf(Number(of.agent_no)) : undefined;
      return agent === undefined
        ? []
        : [{ id: agent.id, name: agent.name, calls: Number(of.calls), failed_calls: Number(of.failed) }];
    }),
  }));
}

/**
 * @param rows calls by model
 * @param byAgent rows of each model by `agent_no`, in the order shown
 */
export function performanceOfRows(
  rows: readonly Row[],
  byAgent: readonly Row[],
  agentOf: (agentNo: number) => { readonly id: string; readonly name: string } | undefined,
): ModelPerformance[] {
  return rows.map((row) => {
    const model = textOf(row.model);
    return {
      model,
      failed_calls: Number(row.failed),
      p50_ms: numberOf(row.p50_ms),
      p95_ms: numberOf(row.p95_ms),
      first_chunk_ms: numberOf(row.first_chunk_ms),
      tokens_per_second: numberOf(row.tokens_per_second),
      without_tokens: Number(row.without_tokens),
      without_price: Number(row.without_price),
      agents: byAgent.flatMap((of) => {
        const agent = textOf(of.model) === model ? agentOf(Number(of.agent_no)) : undefined;
        const cost = textOf(of.cost);
        return agent === undefined
          ? []
          : [
              {
                id: agent.id,
                name: agent.name,
                calls: Number(of.calls),
                total_cost: cost === null ? null : sumToNumber(BigInt(cost)),
              },
            ];
      }),
    };
  });
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
