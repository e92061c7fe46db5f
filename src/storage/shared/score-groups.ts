import type { NumberedVersion } from '../contracts/prompts.js';
import type { ScoreGroup, ScoreOfRun, ScoreRequest, ScoreTotals } from '../contracts/scores.js';
import { numberOf } from './summaries-of-rows.js';

type Row = Readonly<Record<string, unknown>>;
type Agent = { readonly id: string; readonly name: string } | undefined;

/** The level of a row of statistics. */
export const SCORE_LEVELS = { group: 0, bucket: 1, label: 2 } as const;

const DIGITS = 12;
/** The sum of very large values is finite if they are scaled first. A power of two loses no digits. */
const SCALE = { down: String(2 ** -64), up: String(2 ** 64) };
/** The mean of the column `value`, by engine. */
export const MEAN = {
  duckdb: `avg(value * '${SCALE.down}'::DOUBLE) * '${SCALE.up}'::DOUBLE AS mean`,
  clickhouse: `avgOrNull(value * ${SCALE.down}) * ${SCALE.up} AS mean`,
} as const;

/** The condition for scores that are no failed evaluations, in SQL of every engine. */
export const IS_GIVEN = '(error_type IS NULL OR value IS NOT NULL OR label IS NOT NULL)';

/** What the names of groups stand for. */
interface Named {
  readonly agentOf: (number: number) => Agent;
  readonly versions: readonly NumberedVersion[];
}

/** The column of runs that groups scores, the same in every engine; null if the grouping needs other tables. */
export function groupColumn(group: ScoreRequest['group_by']): string | null {
  switch (group) {
    case undefined:
      return "''";
    case 'agent':
      return 'agent_no';
    case 'model':
    case 'prompt_version':
      return null;
    default:
      return group;
  }
}

/** @param rows of all levels: `level`, `name`, `key` (empty: none), `bucket`, `label`, and the columns of `ScoreTotals` */
export function scoreGroups(
  rows: readonly Row[],
  group: ScoreRequest['group_by'],
  { agentOf, versions }: Named,
): ScoreGroup[] {
  const identityOf = (row: Row): string => JSON.stringify([row.name, row.key]);
  const below = (level: number): ReadonlyMap<string, readonly Row[]> => {
    const found = new Map<string, Row[]>();
    for (const row of rows) {
      if (Number(row.level) !== level) continue;
      const known = found.get(identityOf(row));
      if (known === undefined) found.set(identityOf(row), [row]);
      else known.push(row);
    }
    return found;
  };
  const [buckets, labels] = [below(SCORE_LEVELS.bucket), below(SCORE_LEVELS.label)];
  return rows
    .filter((row) => Number(row.level) === SCORE_LEVELS.group)
    .map((row): ScoreGroup => {
      const agent = group === 'agent' ? agentOf(Number(row.key)) : undefined;
      const identity = identityOf(row);
      return {
        name: String(row.name),
        agent: agent === undefined ? null : { id: agent.id, name: agent.name },
        key: group === 'agent' ? null : keyOf(row, group, versions),
        ...totalsOf(row),
        labels: (labels.get(identity) ?? [])
          .map(({ label, scores }) => ({ label: String(label), scores: Number(scores) }))
          .sort((a, b) => b.scores - a.scores || compare(a.label, b.label)),
        buckets: (buckets.get(identity) ?? [])
          .map((bucket) => ({ start: Number(bucket.bucket), ...totalsOf(bucket) }))
          .sort((a, b) => a.start - b.start),
      };
    })
    .sort(
      (a, b) =>
        b.scores - a.scores ||
        compare(a.name, b.name) ||
        compare(a.key ?? a.agent?.name ?? '', b.key ?? b.agent?.name ?? ''),
    );
}

function keyOf(
  { key }: Row,
  group: ScoreRequest['group_by'],
  versions: readonly NumberedVersion[],
): string | null {
  if (group === 'prompt_version')
    return versions.find(({ number }) => number === Number(key))?.version.toString() ?? null;
  return key === '' ? null : String(key);
}

/** @param row with `trace_id`, `name`, `scores`, `mean` and `label` */
export function scoreOfRun(row: Row): ScoreOfRun {
  return {
    trace_id: String(row.trace_id),
    name: String(row.name),
    scores: Number(row.scores),
    mean: roundedMean(row.mean),
    label: typeof row.label === 'string' ? row.label : null,
  };
}

function totalsOf(row: Row): ScoreTotals {
  return {
    scores: Number(row.scores),
    values: Number(row.valued),
    mean: roundedMean(row.mean),
    min: numberOf(row.least),
    max: numberOf(row.most),
  };
}

/** A mean to 12 significant digits, so that the order of the values does not matter. */
export function roundedMean(value: unknown): number | null {
  const number = numberOf(value);
  return number === null || !Number.isFinite(number) ? null : Number(number.toPrecision(DIGITS));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
