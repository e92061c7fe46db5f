import type { Evidence, MetricStats, Observing, WantedMetric } from '../../contracts/alerts.js';
import { POINTS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { literal } from '../files/database.js';
import { quote, SERVICE_STARTS } from '../../shared/labels.js';
import { number } from '../write/run-summary.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { lookedAt, NOTHING_SEEN } from './evidence.js';

/** A stream, and the service whose series are wanted (see `WantedMetric`). */
export interface WantedStream extends Pick<WantedMetric, 'service'> {
  readonly stream: number;
  readonly since: readonly Evidence[] | undefined;
}

interface FoundSeries extends Omit<MetricStats, 'evidence' | 'isNew'> {
  /** The greatest commit among their newest points. */
  readonly seq: number;
}

const NO_SERIES: FoundSeries = { series: 0, min: null, max: null, seq: NOTHING_SEEN };

const STARTS = SERVICE_STARTS.map(literal);
const BUCKET_LABELS = STARTS.map((start) => `contains(labels, ${start})`);
/** The service that each label names, as SQL. Labels are split as text, because values contain no line breaks. */
const NAMES = STARTS.map(
  (start, i) =>
    `CASE WHEN ${BUCKET_LABELS[i]} THEN split_part(split_part(labels, ${start}, 2), ${literal('\n')}, 1) END`,
);
const SERVICES = `list_distinct([${NAMES.join(', ')}])`;
const STATS_COLUMNS =
  'count(*) AS series, min(newest.value) AS min, max(newest.value) AS max, max(newest.seq) AS seq';

/**
 * Stats of the newest point of each series of some streams. One statement reads all streams and aggregates their series, whose
 * number is unlimited.
 *
 * @returns one result per wanted stream, in the same order
 */
export async function metricStats(
  connection: Connection,
  capture: Capture,
  wanted: readonly WantedStream[],
  { pointsStart, now }: Pick<Observing, 'pointsStart' | 'now'>,
): Promise<MetricStats[]> {
  if (wanted.length === 0) return [];
  const streams = new Set(wanted.map(({ stream }) => stream));
  const where = `stream_no IN (${[...streams].join(', ')}) AND timestamp > make_timestamp(${pointsStart}) AND timestamp <= make_timestamp(${now})`;
  const ofServices = new Map<string, { readonly stream: number; readonly label: string }>();
  for (const { stream, service } of wanted) {
    const label = service === null ? null : quote(service);
    if (label !== null) ofServices.set(keyOf(stream, label), { stream, label });
  }
  const services = [...ofServices.values()].map(({ label }) => label);
  const asked = [...ofServices.values()].map(({ stream }, i) => `(${stream}, $${i + 1}::VARCHAR)`);
  const hasStarts = asked.length > 0 ? `bool_or(${BUCKET_LABELS.join(' OR ')})` : 'false';
  const own = `UNION ALL SELECT stream_no, service, ${STATS_COLUMNS}, true AS says
    FROM (SELECT stream_no, newest, unnest(${SERVICES}) AS service FROM known WHERE ${BUCKET_LABELS.join(' OR ')})
    SEMI JOIN (VALUES ${asked.join(', ')}) AS asked(stream_no, service) USING (stream_no, service)
    GROUP BY stream_no, service`;
  // A series whose newest point has no value has ended, or its state is unknown.
  // Structs are compared by their fields in this order: among points of the same time, the latest arrival counts.
  const rows = await connection.rows(
    `WITH series AS MATERIALIZED (
      SELECT stream_no, labels, max({'at': timestamp, 'seq': seq, 'value': value}) AS newest
      FROM ${relation(capture, POINTS, where)} GROUP BY stream_no, labels),
     known AS (SELECT * FROM series WHERE isfinite(newest.value))
     SELECT stream_no, NULL AS service, ${STATS_COLUMNS}, ${hasStarts} AS says FROM known GROUP BY stream_no
     ${asked.length > 0 ? own : ''}`,
    services,
  );
  const all = new Map<number, { readonly stats: FoundSeries; readonly hasStarts: boolean }>();
  const found = new Map<string, FoundSeries>();
  for (const row of rows) {
    const stream = Number(row.stream_no);
    if (row.service === null) all.set(stream, { stats: statsOf(row), hasStarts: row.says === true });
    else found.set(keyOf(stream, String(row.service)), statsOf(row));
  }
  return wanted.map((one) => {
    const ofStream = all.get(one.stream);
    if (ofStream === undefined) return noSeries(one.since);
    const own =
      one.service !== null && ofStream.hasStarts
        ? (found.get(keyOf(one.stream, quote(one.service))) ?? NO_SERIES)
        : null;
    return seriesSince(own ?? ofStream.stats, one.since);
  });
}

/** The stats of a stream that does not exist. */
export function noSeries(since: readonly Evidence[] | undefined): MetricStats {
  return seriesSince(NO_SERIES, since);
}

function seriesSince({ seq, ...stats }: FoundSeries, since: readonly Evidence[] | undefined): MetricStats {
  return { ...stats, ...lookedAt(seq, since) };
}

/** A key for a service of a stream. @param label the service as quoted in labels */
function keyOf(stream: number, label: string): string {
  return `${stream} ${label}`;
}

function statsOf({ series, min, max, seq }: Row): FoundSeries {
  return {
    series: Number(series),
    min: number(min),
    max: number(max),
    seq: Number(seq),
  };
}
