import { LRUCache } from 'lru-cache';
import type { Micros } from '../../../signal/time.js';
import type {
  AlertStats,
  ExampleQuery,
  MetricStats,
  Observed,
  Observing,
  ScoreStats,
  Target,
  TargetStats,
  WantedScore,
} from '../../contracts/alerts.js';
import { isKnown, type AgentNames } from '../names/agent-names.js';
import type { Reads } from '../client/reads.js';
import { metricStats } from './metric-stats.js';
import { NO_SCORES, scoresSince, scoreWindow, type ScoresOfUnit } from './score-windows.js';
import {
  exampleTraces,
  statsOf,
  isKnownNode,
  NO_COST,
  NO_RUNS,
  windowSince,
  type FoundStats,
  type WantedUnits,
} from './target-stats.js';
import { unitKey, type Unit, type Units } from './unit-rows.js';

export interface ObservationParts {
  /** @throws ConsumeError if the store is not open */
  readonly checkOpen: () => void;
  readonly reads: Reads;
  readonly names: Pick<AgentNames, 'of'>;
  /** The number of a user; null for an unknown user. */
  readonly findTenant: (userId: string) => Promise<number | null>;
}

/** The unit whose rows hold the stats of a target. */
export interface Place extends Unit {
  readonly unit: Units['unit'];
  /** Of an agent, or of the newest of all agents. */
  readonly created_at?: Micros;
}

/** Size of the cache of known nodes. */
const MOST_NODES = 100_000;
const NOTHING_FOUND: FoundStats = { windows: new Map(), costs: new Map(), activity: new Map() };
const UNKNOWN: TargetStats = { window: null, costs: [], activeAt: null };

/** The contract `AlertStats`. */
export class Observations implements AlertStats {
  readonly #parts: ObservationParts;
  /** Keys of nodes that some span has had. Nodes are never removed, so the cache needs no invalidation. */
  readonly #nodes = new LRUCache<string, true>({ max: MOST_NODES });

  constructor(parts: ObservationParts) {
    this.#parts = parts;
  }

  async observe(request: Observing): Promise<Observed> {
    const { reads } = this.#parts;
    const places = await Promise.all(request.targets.map(({ target }) => this.place(target)));
    const unitsOf = (unit: Units['unit'], figure: 'runs' | 'cost' | 'activity'): Units => {
      const units = new Map<string, Unit>();
      for (const [i, wanted] of request.targets.entries()) {
        const place = places[i];
        if (place?.unit === unit && wanted[figure]) units.set(unitKey(place), place);
      }
      return { unit, units: [...units.values()] };
    };
    const of = (unit: Units['unit']): WantedUnits => ({
      runs: unitsOf(unit, 'runs'),
      cost: unitsOf(unit, 'cost'),
      activity: unitsOf(unit, 'activity'),
    });
    const [ofAgents = NOTHING_FOUND, ofTenants = NOTHING_FOUND, ofNodes = NOTHING_FOUND] = await statsOf(
      reads,
      [of('agent'), of('tenant'), of('node')],
      request,
    );
    const found = { agent: ofAgents, tenant: ofTenants, node: ofNodes };
    return {
      targets: request.targets.map((wanted, i) => {
        const place = places[i];
        if (place === undefined || place === null) return UNKNOWN;
        const key = unitKey(place);
        const { windows, costs, activity } = found[place.unit];
        const none = wanted.cost ? request.days.map(() => NO_COST) : [];
        return {
          window: wanted.runs ? windowSince(windows.get(key) ?? NO_RUNS, wanted.since) : null,
          costs: wanted.cost ? (costs.get(key) ?? none) : [],
          // Retention may have removed its runs; then its last activity is at least its creation.
          activeAt: wanted.activity ? (activity.get(key) ?? place.created_at ?? null) : null,
        };
      }),
      metrics: await this.metrics(request),
      scores: await this.#scores(request),
    };
  }

  async exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]> {
    this.#parts.checkOpen();
    const places = await Promise.all(queries.map(({ target }) => this.place(target)));
    const examples = queries.map((): readonly string[] => []);
    const alike = new Map<string, number[]>();
    for (const [i, { type, from, to, score }] of queries.entries()) {
      const place = places[i];
      if (place === undefined || place === null) continue;
      const scored = score === undefined ? '' : `${unitKey(place)} ${JSON.stringify(score)}`;
      const key = `${place.unit} ${type} ${from} ${to} ${scored}`;
      alike.set(key, [...(alike.get(key) ?? []), i]);
    }
    for (const group of alike.values()) {
      const asked = group.flatMap((i) => places[i] ?? []);
      const [unit] = asked;
      const query = queries[group[0] ?? 0];
      if (unit === undefined || query === undefined) continue;
      const found = await exampleTraces(this.#parts.reads, { unit: unit.unit, units: asked }, query);
      for (const i of group) {
        const place = places[i];
        if (place !== undefined && place !== null) examples[i] = found.get(unitKey(place)) ?? [];
      }
    }
    return examples;
  }

  /** An agent takes precedence over a node of the same name. Null if neither exists. */
  async place(target: Target): Promise<Place | null> {
    const tenant = await this.#parts.findTenant(target.userId);
    if (tenant === null) return null;
    const agents = await this.#parts.names.of(tenant);
    if ('isAllAgents' in target) {
      const created = agents.known().map(({ created_at }) => created_at);
      const newest = created.length === 0 ? {} : { created_at: Math.max(...created) };
      return { unit: 'tenant', tenant, is: 0, ...newest };
    }
    const agent =
      'agentId' in target
        ? agents.byId(target.agentId)
        : agents.known().find(({ name }) => name === target.service);
    if (isKnown(agent)) return { unit: 'agent', tenant, is: agent.number, created_at: agent.created_at };
    if ('agentId' in target) return null;
    const node = { unit: 'node' as const, tenant, is: target.service };
    return (await this.#isNode(node)) ? node : null;
  }

  async #isNode(node: Unit): Promise<boolean> {
    const key = unitKey(node);
    if (this.#nodes.has(key)) return true;
    const isThere = await isKnownNode(this.#parts.reads, node);
    if (isThere) this.#nodes.set(key, true);
    return isThere;
  }

  async #scores({ scores = [], windowStart, now }: Observing): Promise<readonly ScoreStats[]> {
    const stats: ScoreStats[] = [];
    for (const wanted of scores) {
      const of = await this.scored(wanted);
      const window = { after: windowStart, until: now };
      const found = of === null ? NO_SCORES : await scoreWindow(this.#parts.reads, of, window);
      stats.push(scoresSince(found, wanted.since));
    }
    return stats;
  }

  /** The place of a score's agent; null if it does not exist. */
  async scored({ userId, agentId, name }: WantedScore): Promise<ScoresOfUnit | null> {
    const place = await this.place(agentId === null ? { userId, isAllAgents: true } : { userId, agentId });
    return place === null ? null : { place, name };
  }

  /** Stats of metrics only. */
  async metrics(
    { metrics, pointsStart, now }: Observing,
    abort?: AbortSignal,
  ): Promise<readonly MetricStats[]> {
    const tenants = await Promise.all(metrics.map(({ userId }) => this.#parts.findTenant(userId)));
    const wanted = metrics.map((metric, i) => ({ ...metric, tenant: tenants[i] ?? 0 }));
    return await metricStats(this.#parts.reads, wanted, { pointsStart, now }, abort);
  }
}
