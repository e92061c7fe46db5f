import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { itemAt } from '../../../signal/checked.js';
import { METRIC_TYPES, TEMPORALITIES } from '../../../signal/metric.js';
import type { JsonObject } from '../../../signal/attributes.js';
import { formatTime, type Micros } from '../../../signal/time.js';
import { POINTS } from '../../schema/tables.js';
import type { MetricSummary, PointFilter } from '../../contracts/metrics.js';
import type { Connection } from '../files/connection.js';
import type { Parameter, Row } from '../files/plain-rows.js';
import { labelLine, serializeLabels } from '../../shared/labels.js';
import { finiteOrNull, shownDistribution } from '../../shared/metric-steps/stored-distribution.js';
import type { Stream } from '../write/metric-streams.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { PART_BYTES } from '../segments/read-limits.js';
import { parseJson, serializeJson } from '../../../signal/json.js';

/** Points that are serialized without yielding. */
const STEP_POINTS = 1000;
/** Limits the points read for a page to this many times the number that would fit at the average size. */
const UNEVEN = 4;
/** The first searched range is this much longer than the average suggests, because points are unevenly spaced. */
const EXPECTED_SHARE = 1.5;
const WIDENING = 8;
const SHOWN = 'epoch_us(timestamp) AS at, value, labels, distribution';
/** The length of a point's texts. */
const TEXT_BYTES = 'strlen(labels) + coalesce(strlen(distribution), 0) + coalesce(strlen(exemplars), 0)';
/** Newest first, then by labels. Points that are equal in all of these columns are interchangeable. */
const TIE = 'hash(value, distribution, start_time, flags, temporality, is_monotonic, exemplars)';
const ORDER = `timestamp DESC, labels, seq, ${TIE}`;
const DETAILS = 'epoch_us(start_time) AS start_time, flags, temporality, is_monotonic, exemplars';
/** Numbers that a distribution holds as texts: those that JSON cannot express, and integers beyond 2^53. */
const NUMBER_AS_TEXT = /"(?:NaN|-?Infinity|-?\d+)"/;

export function metricSummary({ name, facts, points, last }: Stream): MetricSummary {
  const { type, unit, description } = facts;
  return {
    name,
    type: itemAt(METRIC_TYPES, type),
    unit,
    description,
    data_point_count: points,
    last_seen_at: last,
  };
}

/** Some points of an answer, and how to find the rest. */
export interface PointsPage {
  /** The inside of a JSON array; points of the same time are ordered by their labels. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly next: PointsCursor | null;
}

/** The cursor of a page of points. */
export interface PointsCursor {
  /** The last commit whose points are shown. */
  readonly asOf: number;
  /** The time of the last point of the answer; null if there are fewer points than requested. */
  readonly since: Micros | null;
  /** Points that are still to come, and the average bytes of text per point. */
  readonly left: number;
  readonly bytes: number;
  /** The last point of the previous page, and how many points that are equal to it in {@link ORDER} were returned. */
  readonly after: {
    readonly at: Micros;
    readonly labels: string;
    readonly seq: number;
    readonly tie: string;
    readonly given: number;
  } | null;
}

/**
 * The newest points of a stream, as many as fit into memory. It first finds their range by the times alone and then reads the
 * points: in the cold file the range covers few row groups.
 */
export async function readPoints(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  filter: PointFilter,
): Promise<PointsPage> {
  const { since, bytes, mostBytes } = await extentOf(connection, capture, stream, filter);
  if (mostBytes * filter.limit > PART_BYTES) {
    const cursor = { asOf: capture.lastSeq, since, left: filter.limit, bytes, after: null };
    return await readMorePoints(connection, capture, stream, filter, cursor);
  }
  // All points fit even at the maximum size, so their sizes need not be summed.
  const { sql, values } = conditions(stream, filter);
  const where = since === null ? sql : `${sql} AND timestamp >= make_timestamp(${since})`;
  const rows = await connection.rows(
    `SELECT ${columnsOf(filter)} FROM ${relation(capture, POINTS, where)} ORDER BY timestamp DESC, labels LIMIT ${filter.limit}`,
    values,
  );
  return { json: await serializePoints(rows, filter), next: null };
}

/** The next points. Points that arrived later or that retention removed are left out. */
export async function readMorePoints(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  filter: PointFilter,
  { asOf, since, left, bytes, after }: PointsCursor,
): Promise<PointsPage> {
  const { sql, values } = conditions(stream, filter);
  const where = [sql];
  if (since !== null) where.push(`timestamp >= make_timestamp(${since})`);
  if (after !== null) {
    const { at, labels, seq, tie } = after;
    values.push(labels);
    where.push(
      `seq <= ${asOf}`,
      `timestamp <= make_timestamp(${at})`,
      `(timestamp < make_timestamp(${at}) OR labels > $${values.length} OR (labels = $${values.length} AND (seq > ${seq} OR (seq = ${seq} AND ${TIE} >= ${tie}::UBIGINT))))`,
    );
  }
  const most = Math.max(1, Math.min(left, Math.floor((UNEVEN * PART_BYTES) / Math.max(1, bytes))));
  const newest = `SELECT * FROM ${relation(capture, POINTS, where.join(' AND '))} ORDER BY ${ORDER} LIMIT ${most} OFFSET ${after?.given ?? 0}`;
  const inOrder = `OVER (ORDER BY ${ORDER} ROWS UNBOUNDED PRECEDING)`;
  const sized = `SELECT *, row_number() ${inOrder} AS place, sum(${TEXT_BYTES}) ${inOrder} AS upto, count(*) OVER () AS points FROM (${newest})`;
  const rows = await connection.rows(
    `SELECT ${columnsOf(filter)}, points, seq, ${TIE}::VARCHAR AS tie FROM (${sized}) WHERE place = 1 OR upto <= ${PART_BYTES} ORDER BY place`,
    values,
  );
  const json = await serializePoints(rows, filter);
  const last = rows.at(-1);
  const isOver = rows.length === left || (rows.length === Number(last?.points) && rows.length < most);
  if (last === undefined || isOver) return { json, next: null };
  return {
    json,
    next: { asOf, since, left: left - rows.length, bytes, after: placeOf(rows, last, after) },
  };
}

function columnsOf({ details }: PointFilter): string {
  return details ? `${SHOWN}, ${DETAILS}` : SHOWN;
}

async function serializePoints(
  rows: readonly Row[],
  { details = false }: PointFilter,
): Promise<Uint8Array<ArrayBuffer>> {
  const texts: string[] = [];
  for (let i = 0; i < rows.length; i += STEP_POINTS) {
    await yieldToOthers();
    for (const row of rows.slice(i, i + STEP_POINTS)) texts.push(pointJson(row, details));
  }
  return new TextEncoder().encode(texts.join(','));
}

function placeOf(rows: readonly Row[], last: Row, before: PointsCursor['after']): PointsCursor['after'] {
  const place = {
    at: Number(last.at),
    labels: String(last.labels),
    seq: Number(last.seq),
    tie: String(last.tie),
  };
  const isEqual = (row: Row): boolean =>
    row.at === last.at && row.labels === last.labels && row.seq === last.seq && row.tie === last.tie;
  const others = rows.findLastIndex((row) => !isEqual(row));
  const given = rows.length - 1 - others;
  const { at, labels, seq, tie } = place;
  const goesOn =
    others < 0 && before?.at === at && before.labels === labels && before.seq === seq && before.tie === tie;
  return { ...place, given: goesOn ? before.given + given : given };
}

/** The time range of an answer's points, and the size of their texts. */
interface Extent {
  /** The time of the last point; null if there are fewer points than requested. */
  readonly since: Micros | null;
  /** The average and the greatest length. */
  readonly bytes: number;
  readonly mostBytes: number;
}

/**
 * The time range of the requested points. Among points with the oldest time the largest count, so that `mostBytes` is an upper
 * bound. It searches back from the newest point over an estimated range and widens it until enough points are found.
 */
async function extentOf(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  filter: PointFilter,
): Promise<Extent> {
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
      `SELECT count(*)::INTEGER AS points, epoch_us(min(timestamp)) AS at, coalesce(avg(bytes), 0)::DOUBLE AS bytes, coalesce(max(bytes), 0)::DOUBLE AS most
        FROM (SELECT timestamp, ${TEXT_BYTES} AS bytes FROM ${relation(capture, POINTS, where)} ORDER BY timestamp DESC, bytes DESC LIMIT ${filter.limit})`,
      values,
    );
    const isFull = row?.points === filter.limit;
    if (isFull || isAll) {
      const since = isFull ? Number(row.at) : null;
      return { since, bytes: Number(row?.bytes), mostBytes: Number(row?.most) };
    }
    width *= WIDENING;
  }
}

export function conditions(
  { tenant, stream_no }: Stream,
  { labels = {}, start_time, end_time }: Omit<PointFilter, 'limit'>,
): { sql: string; values: Parameter[] } {
  const sql = [`tenant = ${tenant}`, `stream_no = ${stream_no}`];
  const values: Parameter[] = [];
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
    `"value":${JSON.stringify(finiteOrNull(row.value))}`,
    `"labels":${serializeLabels(String(row.labels))}`,
  ];
  if (typeof row.distribution === 'string') fields.push(distributionJson(row.distribution));
  if (details) fields.push(detailsJson(row));
  return `{${fields.join(',')}}`;
}

/** The inside of the object; numbers stored as text become numbers or null. */
function distributionJson(text: string): string {
  if (!NUMBER_AS_TEXT.test(text)) return text.slice(1, -1);
  return JSON.stringify(shownDistribution(text)).slice(1, -1);
}

function detailsJson(row: Row): string {
  const { start_time, flags, temporality, is_monotonic, exemplars } = row;
  const details = serializeJson({
    start_time: typeof start_time === 'number' ? formatTime(start_time) : null,
    flags,
    temporality: temporality === null ? null : itemAt(TEMPORALITIES, Number(temporality)),
    is_monotonic,
    exemplars: typeof exemplars === 'string' ? serializeExemplars(exemplars) : [],
  });
  return details.slice(1, -1);
}

function serializeExemplars(text: string): JsonObject[] {
  return (parseJson(text) as JsonObject[]).map((exemplar) => ({
    ...exemplar,
    timestamp: typeof exemplar.timestamp === 'number' ? formatTime(exemplar.timestamp) : null,
    value: typeof exemplar.value === 'string' ? null : (exemplar.value ?? null),
  }));
}
