import { money } from '../store-model.js';
import type { Observing, TargetStats } from '../../../../src/storage/contracts/alerts.js';
import type { Micros } from '../../../../src/signal/time.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';

interface OracleSpan {
  readonly node: string;
  readonly started: Micros;
  ended: Micros | null;
  status: SpanRecord['status'];
  cost: number | null;
}

interface OracleRun {
  readonly agent: string;
  readonly started: Micros;
  ended: Micros | null;
  status: SpanRecord['status'];
  success: boolean | null;
  readonly cost: number | null;
  lastSeen: Micros;
  readonly spans: Map<string, OracleSpan>;
}

/** The counted fields of a run or span. */
interface Counted {
  readonly at: Micros;
  readonly started: Micros;
  readonly ended: Micros | null;
  readonly isRunning: boolean;
  readonly failed: boolean;
  readonly cost: number | null;
}

/** Stats without evidence, which only the store has. */
export interface OracleStats extends Omit<TargetStats, 'window'> {
  readonly window: Omit<NonNullable<TargetStats['window']>, 'evidence' | 'isNew'> | null;
}

/** Models the alert stats of one user. It supports declared runs whose spans carry `peer.service`. */
export class ObservedOracle {
  readonly #runs = new Map<string, OracleRun>();
  /** Last activity of each agent; it never decreases except on {@link restart}. */
  #active = new Map<string, Micros>();

  receive({ trace, spans }: TraceRecord, now: Micros): void {
    const known = this.#runs.get(trace.trace_id);
    const run: OracleRun = known ?? {
      agent: trace.agent,
      started: trace.started_at,
      ended: trace.ended_at,
      status: trace.status,
      success: trace.success,
      cost: trace.total_cost_usd,
      lastSeen: now,
      spans: new Map(),
    };
    this.#runs.set(trace.trace_id, run);
    let isNew = completes(run, trace);
    if (isNew) run.success ??= trace.success;
    for (const span of spans) isNew = receiveSpan(run, span) || isNew;
    if (isNew) run.lastSeen = Math.max(run.lastSeen, now);
    this.#noteActivity();
  }

  setOutcome(traceId: string, success: boolean): void {
    const run = this.#runs.get(traceId);
    if (run !== undefined) run.success = success;
  }

  restart(): void {
    this.#active = new Map();
    this.#noteActivity();
  }

  agent(name: string, request: Observing): OracleStats {
    const runs = [...this.#runs.values()].filter(({ agent }) => agent === name);
    const counted = runs.map((run): Counted => ({
      ...run,
      at: Math.min(run.ended ?? run.started, run.lastSeen),
      isRunning: run.status === 'running',
      failed: run.success === null ? hasFailed(run) : !run.success,
    }));
    return stats(counted, this.#active.get(name) ?? null, request);
  }

  node(name: string, request: Observing): OracleStats {
    const runs = [...this.#runs.values()];
    const spans = runs.flatMap((run) =>
      [...run.spans.values()]
        .filter(({ node }) => node === name)
        .map((span) => ({ span, lastSeen: run.lastSeen })),
    );
    const counted = spans.map(({ span, lastSeen }): Counted => ({
      ...span,
      at: Math.min(span.ended ?? span.started, lastSeen),
      isRunning: span.status === 'running',
      failed: hasFailed(span),
    }));
    const last = Math.max(...spans.map(({ span, lastSeen }) => Math.min(lastOf(span), lastSeen)));
    return stats(counted, spans.length === 0 ? null : last, request);
  }

  #noteActivity(): void {
    for (const { agent, lastSeen, status, spans, ...run } of this.#runs.values()) {
      const others = status === 'running' ? [...spans.values()].map(lastOf) : [];
      const at = Math.min(Math.max(lastOf(run), ...others), lastSeen);
      this.#active.set(agent, Math.max(at, this.#active.get(agent) ?? -Infinity));
    }
  }
}

/** A terminal status completes a running span and fills its missing fields. @returns whether it did */
function completes(
  stored: { readonly started: Micros; ended: Micros | null; status: SpanRecord['status'] },
  incoming: { readonly status: SpanRecord['status']; readonly ended_at: Micros | null },
): boolean {
  if (stored.status !== 'running' || incoming.status === 'running') return false;
  stored.status = incoming.status;
  stored.ended ??= incoming.ended_at;
  if (stored.ended !== null) stored.ended = Math.max(stored.ended, stored.started);
  return true;
}

function receiveSpan(run: OracleRun, span: SpanRecord): boolean {
  const known = run.spans.get(span.span_id);
  if (known === undefined) {
    const { started_at: started, ended_at: ended, status, cost_usd: cost } = span;
    run.spans.set(span.span_id, {
      node: peerOf(span),
      started,
      ended,
      status,
      cost,
    });
    return true;
  }
  const completed = completes(known, span);
  if (completed) known.cost ??= span.cost_usd;
  return completed;
}

function hasFailed({ status }: { readonly status: SpanRecord['status'] }): boolean {
  return status === 'failed' || status === 'timed_out';
}

function lastOf({ started, ended }: { readonly started: Micros; readonly ended: Micros | null }): Micros {
  return Math.max(started, ended ?? started);
}

function stats(
  counted: readonly Counted[],
  activeAt: Micros | null,
  { now, windowStart, days }: Observing,
): OracleStats {
  const finished = counted.filter(({ at, isRunning }) => !isRunning && at > windowStart && at <= now);
  const durations = finished
    .flatMap(({ started, ended }) => (ended === null ? [] : (ended - started) / 1000))
    .sort((a, b) => a - b);
  return {
    window: {
      finished: finished.length,
      failed: finished.filter(({ failed }) => failed).length,
      timed: durations.length,
      p95_ms: percentile95(durations),
    },
    costs: days.map(({ from, to }) => {
      const costs = counted.flatMap(({ started, cost }) =>
        started >= from && started < to && cost !== null ? cost : [],
      );
      return { cost: money(costs), priced: costs.length };
    }),
    activeAt,
  };
}

/** Linear interpolation between the neighboring values. */
function percentile95(sorted: readonly number[]): number | null {
  const place = 0.95 * (sorted.length - 1);
  const lower = sorted[Math.floor(place)];
  const upper = sorted[Math.ceil(place)];
  return lower === undefined || upper === undefined ? null : lower + (upper - lower) * (place % 1);
}

function peerOf({ metadata }: SpanRecord): string {
  const peer = metadata?.['peer.service'];
  if (typeof peer !== 'string') throw new Error('the oracle knows spans with a peer only');
  return peer;
}
