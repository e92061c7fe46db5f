import { sumToNumber } from '../../../signal/money.js';
import type { Micros } from '../../../signal/time.js';
import type { CostStats, Evidence, ExampleQuery, Observing, WindowStats } from '../../contracts/alerts.js';
import { numberOf } from '../../shared/summaries-of-rows.js';
import type { Row } from '../client/connection.js';
import type { Reads } from '../client/reads.js';
import { lookedAt, NOTHING_SEEN } from './evidence.js';
import { valuesOf } from './score-windows.js';
import {
  activityRows,
  finishedRows,
  isOf,
  startedRows,
  unitKey,
  type Unit,
  type Units,
} from './unit-rows.js';

/** Stats of a window, without the comparison with earlier evidence. */
export interface FoundWindow extends Omit<WindowStats, 'evidence' | 'isNew'> {
  /** The greatest fence among its runs. */
  readonly fence: number;
}

const MOST_EXAMPLES = 20;

/** SQL aggregates over the finished runs or spans of a window. */
const WINDOW_PARTS = {
  finished: 'count()',
  failures: 'countIf(failed)',
  timed: 'count(duration_ms)',
  p95_ms: 'quantileExactInclusiveOrNull(0.95)(duration_ms)',
  last: 'max(fence)',
};
export const WINDOW_STATS = Object.entries(WINDOW_PARTS)
  .map(([name, sql]) => `${sql} AS ${name}`)
  .join(', ');

export const NO_RUNS: FoundWindow = { finished: 0, failed: 0, timed: 0, p95_ms: null, fence: NOTHING_SEEN };
export const NO_COST: CostStats = { cost: 0, priced: 0 };

/** A window, from a row with {@link WINDOW_STATS}. */
export function windowIn(row: Row): FoundWindow {
  return {
    finished: Number(row.finished),
    failed: Number(row.failures),
    timed: Number(row.timed),
    p95_ms: numberOf(row.p95_ms),
    fence: Number(row.last),
  };
}

/** @param since earlier evidence of the window */
export function windowSince(
  { fence, ...stats }: FoundWindow,
  since: readonly Evidence[] | undefined,
): WindowStats {
  return { ...stats, ...lookedAt(fence, since) };
}

/** Stats of some units, by their keys. */
export interface FoundStats {
  readonly windows: ReadonlyMap<string, FoundWindow>;
  readonly costs: ReadonlyMap<string, readonly CostStats[]>;
  /** Without units that never were active. */
  readonly activity: ReadonlyMap<string, Micros>;
}

/** The units of one kind, by the figures that are requested. */
export interface WantedUnits {
  readonly runs: Units;
  readonly cost: Units;
  readonly activity: Units;
}

/** Placeholders for the columns that a part of the UNION does not fill. */
const NOTHING = {
  finished: '0',
  failures: '0',
  timed: '0',
  p95_ms: 'NULL',
  last: '0',
  day: '0',
  nanos: "''",
  priced: '0',
  active_at: '0',
};

function part(
  what: string,
  columns: Readonly<Partial<Record<keyof typeof NOTHING, string>>>,
  from: string,
): string {
  const all = Object.entries({ ...NOTHING, ...columns }).map(([name, value]) => `${value} AS ${name}`);
  return `SELECT '${what}' AS what, toInt64(tenant) AS of_tenant, toString(is) AS of_unit, ${all.join(', ')} FROM ${from} GROUP BY tenant, is`;
}

/** All figures of some units, read by one statement so that they are consistent. */
export async function statsOf(
  reads: Reads,
  wanted: readonly WantedUnits[],
  { windowStart, now, days }: Pick<Observing, 'windowStart' | 'now' | 'days'>,
): Promise<readonly FoundStats[]> {
  const parts = wanted.flatMap(({ runs, cost, activity }, kind) => [
    ...(runs.units.length === 0
      ? []
      : [part(`window ${kind}`, WINDOW_PARTS, finishedRows(runs, { after: windowStart, until: now }))]),
    ...(cost.units.length === 0
      ? []
      : days.map(({ from, to }, day) =>
          part(
            `cost ${kind}`,
            { day: String(day), nanos: 'toString(ifNull(sum(toInt128(cost)), 0))', priced: 'count(cost)' },
            startedRows(cost, { from, to: to - 1 }),
          ),
        )),
    ...(activity.units.length === 0
      ? []
      : [part(`activity ${kind}`, { active_at: 'max(ended)' }, activityRows(activity))]),
  ]);
  const rows = parts.length === 0 ? [] : await reads.rows(parts.join(' UNION ALL '));
  return wanted.map((_, kind) => {
    const of = (what: string): Row[] => rows.filter((row) => row.what === `${what} ${kind}`);
    const costs = new Map<string, CostStats[]>();
    for (const row of of('cost')) {
      const priced = Number(row.priced);
      if (priced === 0) continue;
      const key = rowKey(row);
      const ofDays = costs.get(key) ?? days.map(() => NO_COST);
      costs.set(key, ofDays);
      ofDays[Number(row.day)] = { cost: sumToNumber(BigInt(String(row.nanos))), priced };
    }
    return {
      windows: new Map(of('window').map((row) => [rowKey(row), windowIn(row)])),
      costs,
      activity: new Map(of('activity').map((row) => [rowKey(row), Number(row.active_at)])),
    };
  });
}

function rowKey(row: Row): string {
  return unitKey({ tenant: Number(row.of_tenant), is: String(row.of_unit) });
}

/** Whether any span has ever had a node. */
export async function isKnownNode(reads: Reads, node: Unit): Promise<boolean> {
  const rows = await reads.rows(
    `SELECT 1 AS there FROM spans WHERE ${isOf({ unit: 'node', units: [node] })} LIMIT 1`,
  );
  return rows.length > 0;
}

/** The traces that best explain why alerts fire, the best first, by the keys of the units. */
export async function exampleTraces(
  reads: Reads,
  units: Units,
  wanted: Omit<ExampleQuery, 'target'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const ranked = rankedRows(units, wanted);
  if (ranked === null || units.units.length === 0) return found;
  // A trace may have several spans of a node.
  const rows = await reads.rows(
    `SELECT tenant, is, trace_id FROM (SELECT tenant, is, trace_id, ${ranked.by} AS rank FROM ${ranked.rows} GROUP BY tenant, is, trace_id)
     ORDER BY tenant, is, rank DESC, toUInt128(trace_id) LIMIT ${MOST_EXAMPLES} BY tenant, is`,
  );
  for (const row of rows) {
    const key = unitKey(unitOf(row));
    const ids = found.get(key);
    if (ids === undefined) found.set(key, [String(row.trace_id)]);
    else ids.push(String(row.trace_id));
  }
  return found;
}

/** The rows that hold the examples and the ranking of their traces; null if no trace can explain the alert. */
function rankedRows(
  units: Units,
  { type, from, to, score }: Omit<ExampleQuery, 'target'>,
): { readonly rows: string; readonly by: string } | null {
  switch (type) {
    case 'inactivity':
      return null;
    case 'score_threshold': {
      // Queries that ask for scores have one target.
      const [of] = units.units;
      if (score === undefined || of === undefined) return null;
      const { score_name: name, direction, threshold } = score;
      const values = valuesOf({ place: { unit: units.unit, ...of }, name }, { after: from, until: to });
      const [operator, by] = direction === 'below' ? ['<', '-min(value)'] : ['>', 'max(value)'];
      const rows = `(SELECT ${of.tenant} AS tenant, ${Number(of.is)} AS is, trace_id, value FROM ${values}) WHERE value ${operator} toFloat64(${threshold})`;
      return { rows, by };
    }
    case 'cost_threshold':
      return { rows: `${startedRows(units, { from, to })} WHERE cost > 0`, by: 'sum(cost)' };
    case 'failure_rate':
      return { rows: `${finishedRows(units, { after: from, until: to })} WHERE failed`, by: 'max(event)' };
    case 'latency_threshold':
      return {
        rows: `${finishedRows(units, { after: from, until: to })} WHERE duration_ms IS NOT NULL`,
        by: 'max(duration_ms)',
      };
  }
}

function unitOf(row: Row): Unit {
  return { tenant: Number(row.tenant), is: String(row.is) };
}
