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

/** The identity of the store that they are said to be of. */
export const SOURCE = 'here';

/**
 * Stats without any telemetry: what is observed is what a test says. What of it is news follows from the evidence, a number that grows.
 * Any call can be made to wait or to fail.
 */
export class FixedStats implements AlertStats {
  /** What is observed of a target: by the id of its agent, or the name of its service. */
  readonly stats = new Map<string, TargetStats | ((request: Observing) => TargetStats)>();
  /** What is observed of a metric, by its name, and by whose series are wanted. */
  readonly metrics = new Map<string, MetricStats | ((service: string | null) => MetricStats)>();
  /** Of each agent, for what is asked. */
  examples: readonly string[] = [];

  /** What was asked. */
  readonly observed: Observing[] = [];
  readonly askedExamples: ExampleQuery[] = [];

  /** Thrown by the next calls of that method, one by one, with nothing changed. */
  readonly #faults = new Map<string, unknown[]>();
  /** What the next calls of that method do before anything else, one by one. */
  readonly #before = new Map<string, (() => unknown)[]>();

  /** Makes the next call of a method fail. */
  fail(method: string, error: unknown = new Error('the disk is full')): void {
    this.#faults.set(method, [...(this.#faults.get(method) ?? []), error]);
  }

  /** Does something, and waits for it, before the next call of a method does anything. */
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

  /** What every call begins with. */
  protected async enter(method: string): Promise<void> {
    await this.#before.get(method)?.shift()?.();
    const faults = this.#faults.get(method);
    if (faults && faults.length > 0) throw faults.shift();
  }

  #statsOf(target: Target, request: Observing): TargetStats {
    const stats = this.stats.get('agentId' in target ? target.agentId : target.service) ?? NOTHING;
    return typeof stats === 'function' ? stats(request) : stats;
  }
}

function lookedAt<Stats extends Looked>(stats: Stats, since: readonly Evidence[] = []): Stats {
  return { ...stats, isNew: since.map((known) => !(Number(stats.evidence) <= Number(known))) };
}
