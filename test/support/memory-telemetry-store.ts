import type { Receipt } from '../../src/component/consumer.js';
import type { TracesBatch } from '../../src/signal/batch.js';
import { uuidV7 } from '../../src/signal/ids.js';
import { moneyToNumber } from '../../src/signal/money.js';
import type { SpanRecord } from '../../src/signal/span.js';
import { formatTime, type Micros } from '../../src/signal/time.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type {
  AgentComparison,
  AgentDay,
  AgentSummary,
  RunFilter,
  RunSummary,
  StoredTrace,
  TelemetryStore,
} from '../../src/storage/telemetry-store.js';

interface Run extends TraceRecord {
  readonly agentId: string;
}

interface Tenant {
  readonly agents: Map<string, { readonly id: string; readonly created_at: Micros }>;
  readonly runs: Map<string, Run>;
}

/** A telemetry store without a database: it takes whole traces once and reads them back, each user its own. */
export class MemoryTelemetryStore implements TelemetryStore {
  readonly #tenants = new Map<string, Tenant>();

  async writeTraces({ tenant, items }: TracesBatch): Promise<Receipt> {
    const { agents, runs } = this.#tenant(tenant);
    for (const item of items) {
      if (runs.has(item.trace.trace_id)) continue;
      const agent = agents.get(item.trace.agent) ?? {
        id: uuidV7(item.trace.started_at / 1000),
        created_at: item.trace.started_at,
      };
      agents.set(item.trace.agent, agent);
      runs.set(item.trace.trace_id, { ...item, agentId: agent.id });
    }
    return { accepted: items.length, refused: [] };
  }

  async readTrace(tenant: string, traceId: string): Promise<StoredTrace | null> {
    const run = this.#tenant(tenant).runs.get(traceId);
    if (!run) return null;
    const spans = [...run.spans].sort(
      (a, b) => a.started_at - b.started_at || (a.span_id < b.span_id ? -1 : 1),
    );
    return { ...summary(run), metadata: run.trace.metadata, spans: pieces(spans) };
  }

  async setOutcome(tenant: string, traceId: string, change: { success: boolean; outcome?: string }) {
    const run = this.#tenant(tenant).runs.get(traceId);
    if (!run) return null;
    Object.assign(run.trace, change);
    return { success: change.success, outcome: run.trace.outcome };
  }

  async listRuns(
    tenant: string,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
  ) {
    const all = [...this.#tenant(tenant).runs.values()]
      .map(summary)
      .filter((run) => matches(run, filter))
      .sort((a, b) => b.started_at - a.started_at || (a.trace_id < b.trace_id ? 1 : -1));
    return { items: all.slice(page.offset, page.offset + page.limit), count: all.length };
  }

  async listAgents(tenant: string): Promise<readonly AgentSummary[]> {
    return [...this.#tenant(tenant).agents.values()]
      .map(({ id }) => this.#agent(tenant, id))
      .filter((agent) => agent !== null)
      .sort((a, b) => (b.last_run_at ?? 0) - (a.last_run_at ?? 0) || (a.name < b.name ? -1 : 1));
  }

  async readAgent(tenant: string, agentId: string): Promise<AgentSummary | null> {
    return this.#agent(tenant, agentId);
  }

  async agentDays(tenant: string, agentId: string, range: { readonly from: Micros; readonly to: Micros }) {
    const agent = this.#agent(tenant, agentId);
    if (!agent) return null;
    const byDate = new Map<string, RunSummary[]>();
    for (const run of this.#runsOf(tenant, agentId)) {
      if (run.started_at < range.from || run.started_at > range.to) continue;
      const date = formatTime(run.started_at).slice(0, 10);
      byDate.set(date, [...(byDate.get(date) ?? []), run]);
    }
    const days = [...byDate]
      .map(([date, runs]) => day(date, runs))
      .sort((a, b) => (a.date < b.date ? -1 : 1));
    return { name: agent.name, days };
  }

  async compareAgents(
    tenant: string,
    agentIds: readonly string[],
  ): Promise<readonly AgentComparison[] | null> {
    const agents = agentIds.map((id) => this.#agent(tenant, id)).filter((agent) => agent !== null);
    return agents.length === agentIds.length ? agents : null;
  }

  #tenant(id: string): Tenant {
    const tenant = this.#tenants.get(id) ?? { agents: new Map(), runs: new Map() };
    this.#tenants.set(id, tenant);
    return tenant;
  }

  #runsOf(tenant: string, agentId: string): RunSummary[] {
    return [...this.#tenant(tenant).runs.values()].map(summary).filter((run) => run.agent_id === agentId);
  }

  #agent(tenant: string, agentId: string): AgentComparison | null {
    const found = [...this.#tenant(tenant).agents].find(([, { id }]) => id === agentId);
    if (!found) return null;
    const [name, { id, created_at }] = found;
    const runs = this.#runsOf(tenant, id);
    const costs = runs.map((run) => run.total_cost_usd).filter((cost) => cost !== null);
    const total = costs.length === 0 ? null : sum(costs);
    return {
      id,
      name,
      created_at,
      total_runs: runs.length,
      success_count: runs.filter(({ success }) => success === true).length,
      failure_count: runs.filter(({ success }) => success === false).length,
      total_cost: total,
      avg_cost_per_run: total === null ? null : total / costs.length,
      last_run_at: runs.length === 0 ? null : Math.max(...runs.map((run) => run.started_at)),
      p95_latency_ms: p95(runs),
    };
  }
}

function summary({ trace, spans, agentId }: Run): RunSummary {
  const { trace_id, agent: agent_name, status, started_at, ended_at, duration_ms } = trace;
  const { success, outcome, error_message, total_tokens, total_cost_usd } = trace;
  return {
    ...{ trace_id, agent_id: agentId, agent_name, status, started_at, ended_at, duration_ms },
    ...{ success, outcome, error_message, total_tokens, total_cost_usd, span_count: spans.length },
  };
}

function matches(run: RunSummary, filter: RunFilter): boolean {
  const text = filter.query?.toLowerCase();
  return (
    (filter.agent_id === undefined || run.agent_id === filter.agent_id) &&
    (filter.status === undefined || run.status === filter.status) &&
    (filter.success === undefined || run.success === filter.success) &&
    (filter.start_time === undefined || run.started_at >= filter.start_time) &&
    (filter.end_time === undefined || run.started_at <= filter.end_time) &&
    (text === undefined ||
      [run.agent_name, run.outcome, run.error_message].some((field) => field?.toLowerCase().includes(text)))
  );
}

function day(date: string, runs: readonly RunSummary[]): AgentDay {
  const durations = runs.map((run) => run.duration_ms).filter((duration) => duration !== null);
  return {
    date,
    total_runs: runs.length,
    success_count: runs.filter(({ success }) => success === true).length,
    failure_count: runs.filter(({ success }) => success === false).length,
    failed_runs: runs.filter(({ status }) => status === 'failed' || status === 'timed_out').length,
    total_cost: sum(runs.map((run) => run.total_cost_usd ?? 0)),
    total_tokens: sum(runs.map((run) => run.total_tokens ?? 0)),
    avg_latency_ms: durations.length === 0 ? null : sum(durations) / durations.length,
    p95_latency_ms: p95(runs),
  };
}

/** `quantile_cont(0.95)` */
function p95(runs: readonly RunSummary[]): number | null {
  const sorted = runs
    .map((run) => run.duration_ms)
    .filter((duration) => duration !== null)
    .sort((a, b) => a - b);
  const place = (sorted.length - 1) * 0.95;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  return low === undefined || high === undefined ? null : low + (high - low) * (place % 1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function* pieces(spans: readonly SpanRecord[]): AsyncGenerator<Uint8Array> {
  let comma = '';
  for (const span of spans) {
    const shown = {
      ...span,
      metadata: undefined,
      started_at: formatTime(span.started_at),
      ended_at: span.ended_at === null ? null : formatTime(span.ended_at),
      cost_usd: span.cost_usd === null ? null : moneyToNumber(span.cost_usd),
    };
    yield Buffer.from(comma + JSON.stringify(shown));
    comma = ',';
  }
}
