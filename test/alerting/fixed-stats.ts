import type {
  AlertStats,
  Evidence,
  ExampleQuery,
  Looked,
  MetricStats,
  Observed,
  Observing,
  Target,
  TargetStats,
} from '../../src/storage/contracts/alerts.js';
import { NOTHING, points } from './alert-samples.js';

/** Identity of the store of these stats. */
export const SOURCE = 'here';

/**
 * Stats without telemetry: a test sets the observations. The evidence is an increasing number. Any call can be delayed or
 * fail.
 */
export class FixedStats implements AlertStats {
  /** Observations of a target, by agent id or service name. */
  readonly stats = new Map<string, TargetStats | ((request: Observing) => TargetStats)>();
  /** Observations of a metric, by name and requested series. */
  readonly metrics = new Map<string, MetricStats | ((service: string | null) => MetricStats)>();
  /** Example traces of each agent. */
  examples: readonly string[] = [];

  /** Received requests. */
  readonly observed: Observing[] = [];
  readonly askedExamples: ExampleQuery[] = [];

  /** Errors thrown by the next calls of a method, one by one, without changes. */
  readonly #faults = new Map<string, unknown[]>();
  /** Actions run before the next calls of a method, one by one. */
  readonly #before = new Map<string, (() => unknown)[]>();

  /** Makes the next call of a method fail. */
  fail(method: string, error: unknown = new Error('the disk is full')): void {
    this.#faults.set(method, [...(this.#faults.get(method) ?? []), error]);
  }

  /** Runs and awaits an action before the next call of a method. */
  before(method: string, action: () => unknown): void {
    this.#before.set(method, [...(this.#before.get(method) ?? []), action]);
  }

  async observe(request: Observing): Promise<Observed> {
    await this.enter('observe');
    this.observed.push(request);
    return {
      targets: request.targets.map(({ target, since }) => {
        const stats = this.#statsOf(target, request);
        return { ...stats, window: stats.window && lookedAt(stats.window, since) };
      }),
      metrics: request.metrics.map(({ name, service, since }) => {
        const known = this.metrics.get(name) ?? points([]);
        return lookedAt(typeof known === 'function' ? known(service) : known, since);
      }),
    };
  }

  async exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]> {
    await this.enter('exampleTraces');
    this.askedExamples.push(...queries);
    return queries.map(() => this.examples);
  }

  /** Called at the start of every method. */
  protected async enter(method: string): Promise<void> {
    await this.#before.get(method)?.shift()?.();
    const faults = this.#faults.get(method);
    if (faults && faults.length > 0) throw faults.shift();
  }

  #statsOf(target: Target, request: Observing): TargetStats {
    const name =
      'agentId' in target ? target.agentId : 'isAllAgents' in target ? target.userId : target.service;
    const stats = this.stats.get(name) ?? NOTHING;
    return typeof stats === 'function' ? stats(request) : stats;
  }
}

function lookedAt<Stats extends Looked>(stats: Stats, since: readonly Evidence[] = []): Stats {
  return { ...stats, isNew: since.map((known) => !(Number(stats.evidence) <= Number(known))) };
}
