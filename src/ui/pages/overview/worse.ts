/** How the runs of an agent went within some time. */
export interface AgentFigures {
  readonly id: string;
  readonly name: string;
  readonly runs: number;
  readonly failed: number;
  readonly cost: number | null;
  /** How many have a cost. */
  readonly priced: number;
}

interface Group {
  readonly key: string | null;
  readonly name: string | null;
  readonly buckets: readonly {
    readonly runs: number;
    readonly failed: number;
    readonly cost: number | null;
    readonly priced_runs: number;
  }[];
}

/** An agent that did worse than in the time before, by what. */
export interface Worse {
  readonly now: AgentFigures;
  readonly before: AgentFigures;
  /** Shares of failed runs, 0 to 1, where these got more. */
  readonly failures: { readonly now: number; readonly before: number } | null;
  /** US dollars a run that has a cost, where it costs more. */
  readonly cost: { readonly now: number; readonly before: number } | null;
}

/** Fewer runs say nothing. */
const LEAST_RUNS = 5;
/** By so much more of its runs fail. */
const MORE_FAILURES = 0.03;
/** A run costs so many times as much. */
const MORE_COST = 1.25;

/** Figures by agent of an answer that is grouped by agent. */
export function figuresByAgent(groups: readonly Group[]): ReadonlyMap<string, AgentFigures> {
  return new Map(
    groups.flatMap(({ key: id, name, buckets }) => {
      if (id === null) return [];
      const costs = buckets.flatMap(({ cost }) => (cost === null ? [] : [cost]));
      const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
      const figures = {
        id,
        name: name ?? '',
        runs: sum(buckets.map(({ runs }) => runs)),
        failed: sum(buckets.map(({ failed }) => failed)),
        priced: sum(buckets.map(({ priced_runs }) => priced_runs)),
        cost: costs.length === 0 ? null : sum(costs),
      };
      return [[id, figures] as const];
    }),
  );
}

/** Agents of which clearly more runs fail, or whose runs clearly cost more, than before; the worst first. */
export function worseAgents(
  now: ReadonlyMap<string, AgentFigures>,
  before: ReadonlyMap<string, AgentFigures>,
): readonly Worse[] {
  const found = [...now.values()].flatMap((figures): Worse[] => {
    const earlier = before.get(figures.id);
    if (!earlier || figures.runs < LEAST_RUNS || earlier.runs < LEAST_RUNS) return [];
    const shares = { now: figures.failed / figures.runs, before: earlier.failed / earlier.runs };
    const failures = shares.now - shares.before >= MORE_FAILURES ? shares : null;
    const costs =
      figures.cost === null || earlier.cost === null
        ? null
        : { now: figures.cost / figures.priced, before: earlier.cost / earlier.priced };
    const cost = costs && costs.before > 0 && costs.now / costs.before >= MORE_COST ? costs : null;
    return failures || cost ? [{ now: figures, before: earlier, failures, cost }] : [];
  });
  const rank = ({ failures, cost }: Worse): number =>
    (failures ? 10 * (failures.now - failures.before) : 0) + (cost ? Math.log2(cost.now / cost.before) : 0);
  return found.sort((a, b) => rank(b) - rank(a));
}
