/** Totals of an agent in a period. */
export interface AgentFigures {
  readonly id: string;
  readonly name: string;
  readonly runs: number;
  readonly failed: number;
  readonly cost: number | null;
  /** Number of runs with a cost. */
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

/** An agent that got worse, and how. */
export interface Regression {
  readonly now: AgentFigures;
  readonly before: AgentFigures;
  /** Failure rates from 0 to 1, if they rose. */
  readonly failures: { readonly now: number; readonly before: number } | null;
  /** US dollars per priced run, if they rose. */
  readonly cost: { readonly now: number; readonly before: number } | null;
}

/** Fewer runs are not significant. */
const MIN_RUNS = 5;
/** Minimum rise of the failure rate. */
const MORE_FAILURES = 0.03;
/** Minimum factor of the cost per run. */
const MORE_COST = 1.25;

/** Totals by agent from a grouped response. */
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

/** Agents with a clearly higher failure rate or cost per run, the worst first. */
export function regressionsOf(
  now: ReadonlyMap<string, AgentFigures>,
  before: ReadonlyMap<string, AgentFigures>,
): readonly Regression[] {
  const found = [...now.values()].flatMap((figures): Regression[] => {
    const earlier = before.get(figures.id);
    if (!earlier || figures.runs < MIN_RUNS || earlier.runs < MIN_RUNS) return [];
    const shares = { now: figures.failed / figures.runs, before: earlier.failed / earlier.runs };
    const failures = shares.now - shares.before >= MORE_FAILURES ? shares : null;
    const costs =
      figures.cost === null || earlier.cost === null
        ? null
        : { now: figures.cost / figures.priced, before: earlier.cost / earlier.priced };
    const cost = costs && costs.before > 0 && costs.now / costs.before >= MORE_COST ? costs : null;
    return failures || cost ? [{ now: figures, before: earlier, failures, cost }] : [];
  });
  const rank = ({ failures, cost }: Regression): number =>
    (failures ? 10 * (failures.now - failures.before) : 0) + (cost ? Math.log2(cost.now / cost.before) : 0);
  return found.sort((a, b) => rank(b) - rank(a));
}
