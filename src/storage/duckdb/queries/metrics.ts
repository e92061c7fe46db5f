import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { METRIC_TYPES, TEMPORALITIES } from '../../../signal/metric.js';
import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { formatTime, type Micros } from '../../../signal/time.js';
import { POINTS } from '../../tables.js';
import type { MetricSummary, PointFilter } from '../../telemetry-store.js';
import type { Connection, Row, Value } from '../database.js';
import { labelLine, printLabels } from '../metrics/labels.js';
import type { Stream } from '../metrics/metric-streams.js';
import { relation } from '../relation.js';
import type { Capture } from '../segment.js';
import { parseJson, printJson } from '../../../signal/json.js';

/** Points that are printed in one step of the thread. */
const STEP_POINTS = 1000;
/** How much farther than on average: points do not come quite evenly. */
const EXPECTED_SHARE = 1.5;
const WIDENING = 8;
const SHOWN = 'epoch_us(timestamp) AS at, value, labels, distribution';
const DETAILS = 'epoch_us(start_time) AS start_time, flags, temporality, is_monotonic, exemplars';
/** Numbers that a distribution has as texts: those that JSON has no numbers for, and integers beyond 2^53. */
const NUMBER_AS_TEXT = /"(?:NaN|-?Infinity|-?\d+)"/;

export function metricSummary({ name, facts, points }: Stream): MetricSummary {
  const { type, unit, description } = facts;
  return { name, type: METRIC_TYPES[type] ?? 'gauge', unit, description, data_point_count: points };
}

/**
 * The newest points of a stream, as the text of a JSON array's inside; of the same time, by their labels. First from which
 * time on they lie, by the times alone; then they themselves: in the cold file they are in few row groups.
 */
export async function readPoints(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  filter: PointFilter,
): Promise<Uint8Array<ArrayBuffer>> {
  const { sql, values } = conditions(stream, filter);
  const since = await timeOfLast(connection, capture, stream, filter);
  const where = since === null ? sql : `${sql} AND timestamp >= make_timestamp(${since})`;
  const columns = filter.details ? `${SHOWN}, ${DETAILS}` : SHOWN;
  const rows = await connection.rows(
    `SELECT ${columns} FROM ${relation(capture, POINTS, where)} ORDER BY timestamp DESC, labels LIMIT ${filter.limit}`,
    values,
  );
  const texts: string[] = [];
  for (let i = 0; i < rows.length; i += STEP_POINTS) {
    await yieldToOthers();
    for (const row of rows.slice(i, i + STEP_POINTS)) texts.push(pointJson(row, filter.details ?? false));
  }
  return new TextEncoder().encode(texts.join(','));
}

/**
 * The time of the last of the points asked for; null where there are fewer. It looks back from the newest point as far as
 * so many should lie, and farther while they do not: what is older need not be read.
 */
async function timeOfLast(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  filter: PointFilter,
): Promise<Micros | null> {
  const { first, last, points } = stream;
  const { sql, values } = conditions(stream, filter);
  const end = Math.min(last, filter.end_time ?? Infinity);
  const start = Math.max(first, filter.start_time ?? -Infinity);
  let width = Math.ceil(((last - first) / points) * filter.limit * EXPECTED_SHARE) + 1;
  for (;;) {
    const from = Math.floor(end - width);
    const isAll = !(from > start);
    const where = isAll ? sql : `${sql} AND timestamp >= make_timestamp(${from})`;
    const [row] = await connection.rows(
      `SELECT epoch_us(timestamp) AS at FROM ${relation(capture, POINTS, where)} ORDER BY timestamp DESC LIMIT 1 OFFSET ${filter.limit - 1}`,
      values,
    );
    if (row !== undefined) return Number(row.at);
    if (isAll) return null;
    width *= WIDENING;
  }
}

function conditions(
  { tenant, stream_no }: Stream,
  { labels = {}, start_time, end_time }: PointFilter,
): { sql: string; values: Value[] } {
  const sql = [`tenant = ${tenant}`, `stream_no = ${stream_no}`];
  const values: Value[] = [];
  if (start_time !== undefined) sql.push(`timestamp >= make_timestamp(${start_time})`);
  if (end_time !== undefined) sql.push(`timestamp <= make_timestamp(${end_time})`);
  for (const [key, value] of Object.entries(labels)) {
    values.push(labelLine(key, value));
    sql.push(`contains(labels, $${values.length})`);
  }
  return { sql: sql.join(' AND '), values };
}

/** A point as the API shows it. */
function pointJson(row: Row, details: boolean): string {
  const fields = [
    `"timestamp":"${formatTime(Number(row.at))}"`,
    `"value":${JSON.stringify(finite(row.value))}`,
    `"labels":${printLabels(String(row.labels))}`,
  ];
  if (typeof row.distribution === 'string') fields.push(distributionJson(row.distribution));
  if (details) fields.push(detailsJson(row));
  return `{${fields.join(',')}}`;
}

/** The inside of the object, numbers that were kept as texts as numbers or null. */
function distributionJson(text: string): string {
  if (!NUMBER_AS_TEXT.test(text)) return text.slice(1, -1);
  const numbers = JSON.parse(text, (_, value: JsonValue) =>
    typeof value === 'string' ? finite(Number(value)) : value,
  ) as JsonObject;
  return JSON.stringify(numbers).slice(1, -1);
}

function detailsJson(row: Row): string {
  const { start_time, flags, temporality, is_monotonic, exemplars } = row;
  const details = printJson({
    start_time: typeof start_time === 'number' ? formatTime(start_time) : null,
    flags,
    temporality: temporality === null ? null : TEMPORALITIES[Number(temporality)],
    is_monotonic,
    exemplars: typeof exemplars === 'string' ? printExemplars(exemplars) : [],
  });
  return details.slice(1, -1);
}

function printExemplars(text: string): JsonObject[] {
  return (parseJson(text) as JsonObject[]).map((exemplar) => ({
    ...exemplar,
    timestamp: typeof exemplar.timestamp === 'number' ? formatTime(exemplar.timestamp) : null,
    value: typeof exemplar.value === 'string' ? null : (exemplar.value ?? null),
  }));
}

/** JSON has no NaN and no infinity. */
function finite(value: Value | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
