import { byDepth } from '../../support/trace-order.js';
import { recursiveUsage } from '../../support/recursive-usage.js';
import { declaredContext } from '../../../src/signal/run-context.js';
import { sumToNumber } from '../../../src/signal/money.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import { formatTime, type Micros } from '../../../src/signal/time.js';
import type { TraceHeader, TraceRecord } from '../../../src/signal/trace.js';
import type {
  AgentComparison,
  AgentDay,
  EstimatedRuns,
  RunFilter,
  RunOutcomes,
  RunSummary,
} from '../../../src/storage/contracts/runs.js';
import { without, type ShownSpan } from './shown-spans.js';

interface ModelTrace {
  /** As declared, without derived fields. */
  header: TraceHeader;
  readonly spans: Map<string, SpanRecord>;
}

/** An agent without its id, which the store assigns. */
export type ModelAgent = Omit<AgentComparison, 'id'>;
export type ModelRun = Omit<RunSummary, 'agent_id'>;

/** A model of the telemetry of one tenant: declared data is kept, derived data is recomputed for each response. */
export class StoreModel {
  readonly traces = new Map<string, ModelTrace>();
  readonly agents = new Map<string, { readonly created_at: Micros }>();

  write(items: readonly TraceRecord[], receivedAt: Micros): void {
    for (const { trace: header, spans } of items) {
      let trace = this.traces.get(header.trace_id);
      if (trace === undefined) {
        trace = { header, spans: new Map() };
        this.traces.set(header.trace_id, trace);
        if (!this.agents.has(header.agent)) this.agents.set(header.agent, { created_at: receivedAt });
      } else {
        const { sample_rate } = trace.header;
        trace.header = {
          ...completed(trace.header, header),
          sample_rate: larger(sample_rate, header.sample_rate),
        };
      }
      for (const span of spans) writeSpan(trace, span);
    }
  }

  /** @returns the resulting outcome; null for an unknown trace */
  setOutcome(traceId: string, change: { success: boolean; outcome?: string }) {
    const trace = this.traces.get(traceId);
    if (trace === undefined) return null;
    trace.header = { ...trace.header, ...change };
    return { success: change.success, outcome: trace.header.outcome };
  }

  run(traceId: string): ModelRun | null {
    const trace = this.traces.get(traceId);
    return trace === undefined ? null : shownRun(trace);
  }

  spans(traceId: string): ShownSpan[] {
    const spans = [...(this.traces.get(traceId)?.spans.values() ?? [])];
    const tied = byDepth(spans);
    return spans.sort((a, b) => a.started_at - b.started_at || tied(a, b)).map(shownSpan);
  }

  /** All matching runs, newest first. @param agentName replaces the agent of the filter */
  runs(filter: RunFilter = {}, agentName?: string): ModelRun[] {
    return [...this.traces.values()]
      .map(shownRun)
      .filter(
        (run) =>
          (agentName === undefined || run.agent_name === agentName) &&
          (filter.status === undefined || run.status === filter.status) &&
          (filter.success === undefined || run.success === filter.success) &&
          (filter.start_time === undefined || run.started_at >= filter.start_time) &&
          (filter.end_time === undefined || run.started_at <= filter.end_time),
      )
      .sort((a, b) => b.started_at - a.started_at || compare(b.trace_id, a.trace_id));
  }

  agentList(): ModelAgent[] {
    return [...this.agents.keys()]
      .map((name) => this.agent(name))
      .sort((a, b) => (b.last_run_at ?? 0) - (a.last_run_at ?? 0) || compare(a.name, b.name));
  }

  agent(name: string): ModelAgent {
    const runs = this.runs({}, name);
    const costs = present(runs.map((run) => run.total_cost_usd));
    return {
      name,
      created_at: this.agents.get(name)?.created_at ?? 0,
      total_runs: runs.length,
      success_count: runs.filter((run) => run.success === true).length,
      failure_count: runs.filter((run) => run.success === false).length,
      ...outcomes(runs),
      total_cost: costs.length === 0 ? null : money(costs),
      avg_cost_per_run: costs.length === 0 ? null : money(costs) / costs.length,
      last_run_at: runs[0]?.started_at ?? null,
      p95_latency_ms: percentile(present(runs.map((run) => run.duration_ms)), 0.95),
    };
  }

  estimate(name: string): EstimatedRuns {
    return estimate(this.runs({}, name));
  }

  days(name: string, from: Micros, to: Micros): AgentDay[] {
    const byDate = new Map<string, ModelRun[]>();
    for (const run of this.runs({ start_time: from, end_time: to }, name).reverse()) {
      const date = formatTime(run.started_at).slice(0, 10);
      byDate.set(date, [...(byDate.get(date) ?? []), run]);
    }
    return [...byDate].map(([date, runs]) => {
      const durations = present(runs.map((run) => run.duration_ms));
      return {
        date,
        total_runs: runs.length,
        success_count: runs.filter((run) => run.success === true).length,
        failure_count: runs.filter((run) => run.success === false).length,
        ...outcomes(runs),
        total_cost: money(present(runs.map((run) => run.total_cost_usd))),
        total_tokens: sum(present(runs.map((run) => run.total_tokens))),
        avg_latency_ms: durations.length === 0 ? null : sum(durations) / durations.length,
        p95_latency_ms: percentile(durations, 0.95),
        estimate: estimate(runs),
      };
    });
  }
}

/** Each run repeated as often as its sample rate implies. The rates make these whole numbers. */
function estimate(runs: readonly ModelRun[]): EstimatedRuns {
  const all = runs.flatMap((run) =>
    Array.from({ length: Math.round(1 / (run.sample_rate ?? 1)) }, () => run),
  );
  const durations = present(all.map((run) => run.duration_ms));
  return {
    counted_runs: runs.length,
    sampled_runs: runs.filter(({ sample_rate }) => sample_rate !== null && sample_rate < 1).length,
    total_runs: all.length,
    success_count: all.filter((run) => run.success === true).length,
    failure_count: all.filter((run) => run.success === false).length,
    ...outcomes(all),
    total_cost: money(present(all.map((run) => run.total_cost_usd))),
    total_tokens: sum(present(all.map((run) => run.total_tokens))),
    avg_latency_ms: durations.length === 0 ? null : sum(durations) / durations.length,
  };
}

function outcomes(runs: readonly ModelRun[]): RunOutcomes {
  return {
    failed_runs: runs.filter((run) => run.status === 'failed' || run.status === 'timed_out').length,
    finished_runs: runs.filter((run) => run.status !== 'running').length,
  };
}

function writeSpan(trace: ModelTrace, span: SpanRecord): void {
  const known = trace.spans.get(span.span_id);
  trace.spans.set(span.span_id, known === undefined ? span : completed(known, span));
}

/** A terminal version completes a running one and fills its missing fields. Anything else changes nothing. */
function completed<T extends TraceHeader | SpanRecord>(stored: T, later: T): T {
  if (stored.status !== 'running' || later.status === 'running') return stored;
  const filled = Object.entries(stored).map(([key, value]: [string, unknown]) => [
    key,
    value ?? later[key as keyof T],
  ]);
  const merged = { ...(Object.fromEntries(filled) as T), status: later.status };
  // Start and end come from different messages.
  if (merged.ended_at !== null) merged.ended_at = Math.max(merged.ended_at, merged.started_at);
  return merged;
}

function shownRun({ header, spans }: ModelTrace): ModelRun {
  const { agent: agent_name, ...shown } = without(
    header,
    'metadata',
    'sdk_version',
    'follows_spans',
    'idle_timeout_ms',
    'orphan_wait_ms',
  );
  const all = [...spans.values()];
  return {
    ...shown,
    agent_name,
    ...declaredContext(header),
    tags: declaredContext(header).tags ?? [],
    duration_ms: header.duration_ms ?? elapsed(header),
    total_tokens: header.total_tokens ?? usage(all, tokensOf),
    total_cost_usd: header.total_cost_usd ?? usage(all, (span) => span.cost_usd),
    span_count: spans.size,
  };
}

function shownSpan(span: SpanRecord): ShownSpan {
  return {
    ...without(
      span,
      'parent_is_remote',
      'metadata',
      'agent_hint',
      'map_hint',
      'run_kind',
      'context',
      'prompt',
      'call',
      'scores',
    ),
    started_at: formatTime(span.started_at),
    ended_at: span.ended_at === null ? null : formatTime(span.ended_at),
    duration_ms: span.duration_ms ?? elapsed(span),
    total_tokens: tokensOf(span),
    cost_usd: span.cost_usd === null ? null : span.cost_usd / 1e9,
  };
}

function elapsed({ started_at, ended_at }: { started_at: Micros; ended_at: Micros | null }): number | null {
  return ended_at === null ? null : (ended_at - started_at) / 1000;
}

function tokensOf(span: Pick<SpanRecord, 'total_tokens' | 'input_tokens' | 'output_tokens'>): number | null {
  if (span.total_tokens !== null) return span.total_tokens;
  if (span.input_tokens === null && span.output_tokens === null) return null;
  return (span.input_tokens ?? 0) + (span.output_tokens ?? 0);
}

function usage(spans: readonly SpanRecord[], measure: (span: SpanRecord) => number | null): number | null {
  return recursiveUsage(spans, measure, ({ type }) => type);
}

/** Linear interpolation between order statistics. */
function percentile(values: readonly number[], fraction: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * fraction;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  return low === undefined || high === undefined ? null : low + (high - low) * (place - Math.floor(place));
}

function larger(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function present(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

/** The sum of amounts in nano-USD, in US dollars. */
export function money(amounts: readonly number[]): number {
  return sumToNumber(amounts.reduce((sum, amount) => sum + BigInt(amount), 0n));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
