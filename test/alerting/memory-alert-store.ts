import type {
  ExampleQuery,
  MetricFigures,
  Observed,
  Observing,
  Target,
  TargetFigures,
  Touched,
} from '../../src/storage/alert-figures.js';
import type { AlertRule, Firing, Resolution, RuleChange } from '../../src/storage/alert-store.js';
import type { EvaluatedStore } from '../../src/alerting/evaluator.js';
import { NOTHING, points } from './alert-samples.js';

type Method = keyof EvaluatedStore;

/**
 * An alert store without a database, for tests of what evaluates one: rules, and what is observed, are what a test says.
 * It keeps the promises of the interface but durability, and any call can be made to wait or to fail.
 */
export class MemoryAlertStore implements EvaluatedStore {
  /** Of users, active or not. */
  readonly rules = new Map<string, AlertRule>();
  /** What is observed of a target: by the id of its agent, or the name of its service. */
  readonly figures = new Map<string, TargetFigures | ((request: Observing) => TargetFigures)>();
  /** What is observed of a metric, by its name, and by whose series are wanted. */
  readonly metrics = new Map<string, MetricFigures | ((service: string | null) => MetricFigures)>();
  /** Of each agent, for what is asked. */
  examples: readonly string[] = [];
  lastBeat: number | null = null;

  /** What was asked and what was written. */
  readonly observed: Observing[] = [];
  readonly askedExamples: ExampleQuery[] = [];
  readonly firings: Firing[] = [];
  readonly resolutions: Resolution[] = [];

  /** Thrown by the next calls of that method, one by one, with nothing changed. */
  readonly #faults = new Map<Method, unknown[]>();
  /** What the next calls of that method do before anything else, one by one. */
  readonly #before = new Map<Method, (() => unknown)[]>();
  readonly #ruleListeners = new Set<(change: RuleChange) => void>();
  readonly #telemetryListeners = new Set<() => void>();
  #touched = new Map<keyof Touched, Set<string>>();
  #hasCalled = false;

  get watchers(): number {
    return this.#ruleListeners.size + this.#telemetryListeners.size;
  }

  /** Makes the next call of a method fail. */
  fail(method: Method, error: unknown = new Error('the disk is full')): void {
    this.#faults.set(method, [...(this.#faults.get(method) ?? []), error]);
  }

  /** Does something, and waits for it, before the next call of a method does anything. */
  before(method: Method, action: () => unknown): void {
    this.#before.set(method, [...(this.#before.get(method) ?? []), action]);
  }

  /** A user makes a rule, or changes or pauses one. */
  put(rule: AlertRule): void {
    const isActive = rule.alert.is_active;
    const now = isActive ? rule : { ...rule, incident: null };
    this.rules.set(rule.alert.id, now);
    this.#tell(isActive ? { kind: 'put', rule: now } : { kind: 'removed', alertId: rule.alert.id });
  }

  delete(alertId: string): void {
    this.rules.delete(alertId);
    this.#tell({ kind: 'removed', alertId });
  }

  /** A commit brings something. */
  touch({ agents = [], spansOf = [], pointsOf = [] }: Partial<Touched>): void {
    for (const [kind, ids] of Object.entries({ agents, spansOf, pointsOf })) {
      const key = kind as keyof Touched;
      this.#touched.set(key, new Set([...(this.#touched.get(key) ?? []), ...ids]));
    }
    if (this.#hasCalled) return;
    this.#hasCalled = true;
    for (const listener of this.#telemetryListeners) listener();
  }

  async listRules(): Promise<readonly AlertRule[]> {
    await this.#enter('listRules');
    return [...this.rules.values()].filter(({ alert }) => alert.is_active);
  }

  async readRule(userId: string, id: string): Promise<AlertRule | null> {
    await this.#enter('readRule');
    const rule = this.rules.get(id);
    return rule?.userId === userId ? rule : null;
  }

  watchRules(listener: (change: RuleChange) => void): () => void {
    this.#ruleListeners.add(listener);
    return () => this.#ruleListeners.delete(listener);
  }

  watchTelemetry(listener: () => void): () => void {
    this.#telemetryListeners.add(listener);
    return () => this.#telemetryListeners.delete(listener);
  }

  async takeTouched(): Promise<Touched> {
    await this.#enter('takeTouched');
    const taken = this.#touched;
    this.#touched = new Map();
    this.#hasCalled = false;
    const of = (kind: keyof Touched): string[] => [...(taken.get(kind) ?? [])];
    return { agents: of('agents'), spansOf: of('spansOf'), pointsOf: of('pointsOf') };
  }

  async observe(request: Observing): Promise<Observed> {
    await this.#enter('observe');
    this.observed.push(request);
    return {
      targets: request.targets.map(({ target }) => this.#figuresOf(target, request)),
      metrics: request.metrics.map(({ name, service }) => {
        const figures = this.metrics.get(name) ?? points([]);
        return typeof figures === 'function' ? figures(service) : figures;
      }),
    };
  }

  async exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]> {
    await this.#enter('exampleTraces');
    this.askedExamples.push(...queries);
    return queries.map(() => this.examples);
  }

  async recordFirings(firings: readonly Firing[]): Promise<readonly boolean[]> {
    await this.#enter('recordFirings');
    return firings.map((firing) => {
      const { alertId, lastFiredAt, firedAt, incident, evidence } = firing;
      const rule = this.rules.get(alertId);
      if (!rule?.alert.is_active || rule.alert.last_fired_at !== lastFiredAt) return false;
      this.rules.set(alertId, {
        ...rule,
        alert: { ...rule.alert, last_fired_at: firedAt },
        incident,
        evidence,
      });
      this.firings.push(firing);
      return true;
    });
  }

  async recordResolutions(resolutions: readonly Resolution[]): Promise<readonly boolean[]> {
    await this.#enter('recordResolutions');
    return resolutions.map((resolution) => {
      const rule = this.rules.get(resolution.alertId);
      if (rule?.incident?.id !== resolution.incidentId) return false;
      this.rules.set(resolution.alertId, { ...rule, incident: null });
      this.resolutions.push(resolution);
      return true;
    });
  }

  async beatAlerts(now: number): Promise<number | null> {
    await this.#enter('beatAlerts');
    const last = this.lastBeat;
    this.lastBeat = now;
    return last;
  }

  #figuresOf(target: Target, request: Observing): TargetFigures {
    const figures = this.figures.get('agentId' in target ? target.agentId : target.service) ?? NOTHING;
    return typeof figures === 'function' ? figures(request) : figures;
  }

  #tell(change: RuleChange): void {
    for (const listener of this.#ruleListeners) listener(change);
  }

  async #enter(method: Method): Promise<void> {
    await this.#before.get(method)?.shift()?.();
    const faults = this.#faults.get(method);
    if (faults && faults.length > 0) throw faults.shift();
  }
}
