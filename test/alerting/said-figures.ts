import type {
  AlertFigures,
  Evidence,
  ExampleQuery,
  Looked,
  MetricFigures,
  Observed,
  Observing,
  Target,
  TargetFigures,
} from '../../src/storage/contracts/alerts.js';
import { NOTHING, points } from './alert-samples.js';

/** The identity of the store that they are said to be of. */
export const SOURCE = 'here';

/**
 * Figures without any telemetry: what is observed is what a test says. What of it is news follows from the evidence, a number that grows.
 * Any call can be made to wait or to fail.
 */
export class SaidFigures implements AlertFigures {
  /** What is observed of a target: by the id of its agent, or the name of its service. */
  readonly figures = new Map<string, TargetFigures | ((request: Observing) => TargetFigures)>();
  /** What is observed of a metric, by its name, and by whose series are wanted. */
  readonly metrics = new Map<string, MetricFigures | ((service: string | null) => MetricFigures)>();
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
        const figures = this.#figuresOf(target, request);
        return { ...figures, window: figures.window && lookedAt(figures.window, since) };
      }),
      metrics: request.metrics.map(({ name, service, since }) => {
        const said = this.metrics.get(name) ?? points([]);
        return lookedAt(typeof said === 'function' ? said(service) : said, since);
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

  #figuresOf(target: Target, request: Observing): TargetFigures {
    const figures = this.figures.get('agentId' in target ? target.agentId : target.service) ?? NOTHING;
    return typeof figures === 'function' ? figures(request) : figures;
  }
}

function lookedAt<Figures extends Looked>(figures: Figures, since: readonly Evidence[] = []): Figures {
  return { ...figures, isNews: since.map((known) => !(Number(figures.evidence) <= Number(known))) };
}
