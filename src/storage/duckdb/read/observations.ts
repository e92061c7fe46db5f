import type {
  CostStats,
  ExampleQuery,
  Observed,
  Observing,
  Target,
  TargetStats,
  WantedStats,
} from '../../contracts/alerts.js';
import type { Read } from '../segments/read.js';
import type { RunStats } from '../stats/run-stats.js';
import { metricStats, noSeries } from './metric-stats.js';
import { NodeActivity } from './node-activity.js';
import { placeOf, type Known, type Place } from './places.js';
import { scoresSince, scoreWindows, valuesOf } from './score-windows.js';
import { costsOf, windowSince, windowsOf, type FoundWindow } from './target-stats.js';
import type { Connection } from '../files/connection.js';
import type { Capture } from '../segments/segment.js';
import { finishedRows, startedRows, type Unit, type Units } from './unit-rows.js';

/** The search for examples: queries that differ only in their target share one statement. */
type ExamplesOf = Omit<ExampleQuery, 'target'> & { readonly tenant: number };

const MOST_EXAMPLES = 20;

/** The traces that best explain why alerts fire, best first, by the number of the agent or node. */
async function exampleTraces(
  connection: Connection,
  capture: Capture,
  units: Units,
  wanted: ExamplesOf,
): Promise<Map<number, string[]>> {
  const found = new Map<number, string[]>();
  const ranked = await rankedTraces(connection, capture, units, wanted);
  if (ranked === null) return found;
  // A trace may have several spans of a node.
  const rows = await connection.rows(
    `SELECT no, trace_id::VARCHAR AS trace_id FROM (SELECT no, trace_id, ${ranked.by} AS rank FROM ${ranked.rows} GROUP BY no, trace_id)
     QUALIFY row_number() OVER (PARTITION BY no ORDER BY rank DESC, trace_id) <= ${MOST_EXAMPLES}
     ORDER BY no, rank DESC, trace_id`,
  );
  for (const { no, trace_id } of rows) {
    const ids = found.get(Number(no));
    if (ids === undefined) found.set(Number(no), [String(trace_id)]);
    else ids.push(String(trace_id));
  }
  return found;
}

/** The rows that hold the examples, and the SQL that ranks their traces; null if no trace can explain the alert. */
async function rankedTraces(
  connection: Connection,
  capture: Capture,
  units: Units,
  { type, from, to, score, tenant }: ExamplesOf,
): Promise<{ readonly rows: string; readonly by: string } | null> {
  switch (type) {
    case 'inactivity':
      return null;
    case 'score_threshold': {
      if (score === undefined) return null;
      const { score_name, direction, threshold } = score;
      const within = { after: from, until: to };
      const agents = units.unit === 'tenant' ? null : units.numbers;
      const values = await valuesOf({ connection, capture, tenant }, score_name, agents, within);
      const [operator, by] = direction === 'below' ? ['<', '-min(value)'] : ['>', 'max(value)'];
      const rows = `(SELECT ${agents === null ? tenant : 'agent_no'} AS no, trace_id, value FROM ${values}) WHERE value ${operator} '${threshold}'::DOUBLE`;
      return { rows, by };
    }
    case 'cost_threshold':
      return { rows: `${startedRows(capture, units, { from, to })} WHERE cost > 0`, by: 'sum(cost)' };
    case 'failure_rate':
    case 'latency_threshold': {
      const finished = await finishedRows(connection, capture, units, { after: from, until: to });
      return type === 'failure_rate'
        ? { rows: `${finished} WHERE failed`, by: 'max(event)' }
        : { rows: `${finished} WHERE duration_ms IS NOT NULL`, by: 'max(duration_ms)' };
    }
  }
}

interface Parts extends Known {
  readonly read: Read;
  readonly stats: RunStats;
}

/** Tenant numbers of the users of a request, by user id; unknown users are absent. */
export type Tenants = ReadonlyMap<string, number>;

type Wanted = 'runs' | 'cost' | 'activity';

/** The results for one kind of target. */
interface Found {
  readonly windows: ReadonlyMap<number, FoundWindow>;
  readonly costs: ReadonlyMap<number, readonly CostStats[]>;
  readonly activity: ReadonlyMap<number, number | null>;
}

/** The number of an agent that does not exist. */
const NO_AGENT = -1;
const UNKNOWN: TargetStats = { window: null, costs: [], activeAt: null };

/** Reads for alerts. Resolves targets to the numbers of agents and nodes. */
export class Observations {
  readonly #parts: Parts;
  readonly #nodeActivity = new NodeActivity();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Everything, as of one moment. */
  async observe(request: Observing, tenants: Tenants): Promise<Observed> {
    const { read: toTables } = this.#parts;
    const silent = request.targets.flatMap(({ target, activity }) => {
      const place = activity ? this.#place(target, tenants) : undefined;
      return place === undefined || place.unit === 'node' ? [] : this.#agentsOf(place);
    });
    await this.#parts.stats.loadActivity(toTables, silent);
    return await toTables(async (connection, capture) => {
      const places = request.targets.map(({ target }) => this.#place(target, tenants));
      const numbers = (unit: Unit, figure: Wanted): number[] => {
        const wanted = request.targets.flatMap((target, i) => {
          const place = places[i];
          return target[figure] && place?.unit === unit ? place.no : [];
        });
        return [...new Set(wanted)];
      };
      // Memory changes with every commit, so it is read in the same step as the capture.
      const { agents, stats } = this.#parts;
      const activityOf = (unit: 'agent' | 'tenant'): ReadonlyMap<number, number | null> =>
        new Map(
          numbers(unit, 'activity').map((no) => {
            // If retention removed all its runs before the start, it counts as active when it was created.
            const times = this.#agentsOf({ unit, no }).flatMap(
              (agent) => stats.activeAt(agent) ?? agents.byNumber(agent)?.created_at ?? [],
            );
            return [no, times.length === 0 ? null : Math.max(...times)];
          }),
        );
      const activity = { agent: activityOf('agent'), tenant: activityOf('tenant') };
      const streams = request.metrics.map(({ userId, name, service, since }) => {
        const stream = this.#stream(tenants.get(userId), name);
        return stream === undefined ? undefined : { stream, service, since };
      });
      const read = async (unit: Unit): Promise<Pick<Found, 'windows' | 'costs'>> => ({
        windows: await windowsOf(connection, capture, { unit, numbers: numbers(unit, 'runs') }, request),
        costs: await costsOf(connection, capture, { unit, numbers: numbers(unit, 'cost') }, request.days),
      });
      const found: Record<Unit, Found> = {
        agent: { ...(await read('agent')), activity: activity.agent },
        tenant: { ...(await read('tenant')), activity: activity.tenant },
        node: {
          ...(await read('node')),
          activity: await this.#nodeActivity.read(connection, capture, numbers('node', 'activity')),
        },
      };
      const known = streams.filter((stream) => stream !== undefined);
      const ofKnown = await metricStats(connection, capture, known, request);
      const scores = request.scores ?? [];
      const ofAgents = scores.map(({ userId, agentId, name }) => {
        const tenant = tenants.get(userId);
        const agent = tenant === undefined || agentId === null ? undefined : agents.byId(tenant, agentId);
        return {
          tenant: tenant ?? 0,
          agentNo: agentId === null ? null : (agent?.agent_no ?? NO_AGENT),
          name,
        };
      });
      const within = { after: request.windowStart, until: request.now };
      const foundScores = await scoreWindows({ connection, capture }, ofAgents, within);
      const metrics = new Map(known.map((stream, i) => [stream, ofKnown[i]]));
      return {
        targets: request.targets.map((wanted, i) => {
          const place = places[i];
          return place === undefined ? UNKNOWN : statsOf(place, found[place.unit], wanted);
        }),
        metrics: streams.map(
          (stream, i) => (stream && metrics.get(stream)) ?? noSeries(request.metrics[i]?.since),
        ),
        scores: foundScores.map((stats, i) => scoresSince(stats, scores[i]?.since)),
      };
    });
  }

  /** The examples of each query, best first. */
  async exampleTraces(queries: readonly ExampleQuery[], tenants: Tenants): Promise<string[][]> {
    const asked = queries.flatMap((query, i) => {
      const place = this.#place(query.target, tenants);
      const tenant = tenants.get(query.target.userId) ?? 0;
      return place === undefined ? [] : { ...query, ...place, tenant, i };
    });
    const alike = new Map<string, typeof asked>();
    for (const query of asked) {
      const score = query.score === undefined ? '' : `${query.tenant} ${JSON.stringify(query.score)}`;
      const key = `${query.unit} ${query.type} ${query.from} ${query.to} ${score}`;
      const others = alike.get(key);
      if (others === undefined) alike.set(key, [query]);
      else others.push(query);
    }
    return await this.#parts.read(async (connection, capture) => {
      const examples = queries.map((): string[] => []);
      for (const group of alike.values()) {
        const [first] = group;
        if (first === undefined) continue;
        const units = { unit: first.unit, numbers: [...new Set(group.map(({ no }) => no))] };
        const found = await exampleTraces(connection, capture, units, first);
        for (const { i, no } of group) examples[i] = found.get(no) ?? [];
      }
      return examples;
    });
  }

  #place(target: Target, tenants: Tenants): Place | undefined {
    const tenant = tenants.get(target.userId);
    return tenant === undefined ? undefined : placeOf(this.#parts, tenant, target);
  }

  /** The numbers of an agent, or of all agents of a user. */
  #agentsOf({ unit, no }: Place): readonly number[] {
    if (unit === 'agent') return [no];
    return [...this.#parts.agents.ofTenant(no)].flatMap(({ kind, created_at, agent_no }) =>
      kind === 'agent' && created_at !== null ? agent_no : [],
    );
  }

  #stream(tenant: number | undefined, name: string): number | undefined {
    return tenant === undefined ? undefined : this.#parts.metrics.streamNumber(tenant, name);
  }
}

function statsOf({ no }: Place, found: Found, wanted: WantedStats): TargetStats {
  const window = wanted.runs ? found.windows.get(no) : undefined;
  return {
    window: window === undefined ? null : windowSince(window, wanted.since),
    costs: wanted.cost ? (found.costs.get(no) ?? []) : [],
    activeAt: wanted.activity ? (found.activity.get(no) ?? null) : null,
  };
}
