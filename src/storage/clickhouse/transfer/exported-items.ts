import { DERIVED_LOG_COLUMNS, LOG_WIRE } from '../../schema/log-tables.js';
import { SCORE_WIRE } from '../../schema/scores-table.js';
import { NO_TRACE } from '../tables/score-tables.js';
import { textsOfRow } from '../../shared/log-text.js';
import { POINT_WIRE } from '../../schema/tables.js';
import type { ExportedRow } from '../../contracts/transfer.js';
import type { TableFiles } from '../../transfer/table-files.js';
import type { Row } from '../client/connection.js';
import type { Reads } from '../client/reads.js';
import type { MetricFacts } from '../metrics/known-metrics.js';
import { readMetricFacts } from '../metrics/metric-facts.js';

const POINT_COLUMNS = POINT_WIRE.map(({ name }) => name).join(', ');
const LOG_COLUMNS = LOG_WIRE.map(({ name }) => name)
  .filter((name) => !DERIVED_LOG_COLUMNS.has(name))
  .join(', ');
const SCORE_COLUMNS = SCORE_WIRE.map(({ name }) => name).join(', ');
/** The order of rows without a known order. */
const NO_ORDER = 0;

/** Writes the points of a snapshot, each with its metric's metadata. */
export async function exportPoints(reads: Reads, files: TableFiles, abort: AbortSignal): Promise<void> {
  let [known, byName]: [number | null, ReadonlyMap<string, MetricFacts>] = [null, new Map()];
  // The table has this order except for the last two columns, so ClickHouse does not sort everything. Among points at the same time the
  // last one counts.
  const sql = (day: number): string =>
    `SELECT tenant, name, ${POINT_COLUMNS}, origin, arrived FROM points WHERE day = ${day} ORDER BY tenant, name, timestamp, arrived, place`;
  for await (const page of pagesByDay(reads, 'points', sql, abort)) {
    const rows: ExportedRow[] = [];
    for (const row of page) {
      const tenant = Number(row.tenant);
      if (known !== tenant) [known, byName] = [tenant, await metricsOf(reads, tenant)];
      rows.push(pointRow(row, byName.get(String(row.name))));
    }
    await files.add('points', rows);
  }
  await files.end('points');
}

/** Writes the log records of a snapshot. */
export async function exportLogs(reads: Reads, files: TableFiles, abort: AbortSignal): Promise<void> {
  const sql = (day: number): string =>
    `SELECT tenant, ${LOG_COLUMNS}, origin FROM logs WHERE day = ${day} ORDER BY tenant, timestamp, toUInt128(id)`;
  for await (const page of pagesByDay(reads, 'logs', sql, abort)) await files.add('logs', page.map(logRow));
  await files.end('logs');
}

/** Writes the scores of a snapshot, each once. */
export async function exportScores(reads: Reads, files: TableFiles, abort: AbortSignal): Promise<void> {
  const sql = (day: number): string =>
    `SELECT tenant, ${SCORE_COLUMNS}, received_at FROM scores FINAL WHERE day = ${day} ORDER BY tenant, trace_id, id`;
  for await (const page of pagesByDay(reads, 'scores', sql, abort))
    await files.add('scores', page.map(scoreRow));
  await files.end('scores');
}

/** Streams rows in pages, day by day. */
async function* pagesByDay(
  reads: Reads,
  table: string,
  sql: (day: number) => string,
  abort: AbortSignal,
): AsyncGenerator<readonly Row[]> {
  const days = await reads.rows(`SELECT DISTINCT day FROM ${table} ORDER BY day`, abort);
  for (const { day } of days)
    for await (const page of reads.pages(sql(Number(day)), abort)) {
      abort.throwIfAborted();
      yield page;
    }
}

async function metricsOf(reads: Reads, tenant: number): Promise<ReadonlyMap<string, MetricFacts>> {
  return new Map((await readMetricFacts(reads, tenant)).map((metric) => [metric.name, metric]));
}

function pointRow(row: Row, metric: MetricFacts | undefined): ExportedRow {
  return {
    ...(row as ExportedRow),
    value: doubleOf(row.value),
    seq: Number(row.arrived),
    metric: String(row.name),
    metric_type: metric?.type ?? Number(row.type),
    unit: metric?.unit ?? '',
    description: metric?.description ?? '',
  };
}

function logRow(row: Row): ExportedRow {
  return {
    ...(row as ExportedRow),
    seq: NO_ORDER,
    normal: textsOfRow(row).normal,
  };
}

function scoreRow({ received_at, ...row }: Row): ExportedRow {
  const trace_id = row.trace_id === NO_TRACE ? null : String(row.trace_id);
  return { ...(row as ExportedRow), trace_id, seq: Number(received_at) };
}

/** Parses a double in ClickHouse's JSON, which has no NaN and no infinities. */
function doubleOf(value: unknown): number | null {
  if (typeof value !== 'string') return value as number | null;
  return Number(value.replace('inf', 'Infinity'));
}
