import {
  DistributionSteps,
  MOST_DISTRIBUTION_CHARACTERS,
  MOST_DISTRIBUTIONS,
} from '../../metric-steps/distribution-steps.js';
import type { Reads } from '../client/reads.js';
import { pointsWanted, SOURCE, type ReadSeries, type WantedSeries } from './wanted-points.js';

/** Histograms and summaries step by step. */
export async function readDistributionSeries(reads: Reads, wanted: WantedSeries): Promise<ReadSeries> {
  const { request, mostPoints = MOST_DISTRIBUTIONS, abort } = wanted;
  const points = `points WHERE ${pointsWanted(wanted)} AND distribution IS NOT NULL`;
  const newest = 'timestamp DESC, labels, arrived, place';
  const columns = 'labels, timestamp, start_time, temporality, distribution, arrived, place';
  const pages = reads.pages(
    `SELECT labels, toString(source) AS source, timestamp AS at, start_time AS began, temporality, distribution, (SELECT count() FROM ${points}) AS points
     FROM (SELECT *, sum(length(distribution)) OVER (ORDER BY ${newest} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto
       FROM (SELECT ${columns}, ${SOURCE} FROM ${points} ORDER BY ${newest} LIMIT ${String(mostPoints)}))
     WHERE upto <= ${String(MOST_DISTRIBUTION_CHARACTERS)} ORDER BY labels, source, at, arrived, place`,
    abort,
  );
  const found = new DistributionSteps(request);
  let [read, all] = [0, 0];
  for await (const rows of pages) {
    for (const row of rows) found.add(row);
    read += rows.length;
    all = Number(rows[0]?.points);
  }
  return found.result(read < all);
}
