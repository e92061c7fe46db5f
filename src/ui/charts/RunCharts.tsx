import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { Schemas } from '../api/client.js';
import { formatDuration } from '../format/duration.js';
import { formatCount, formatMoney } from '../format/number.js';
import { rangeBetween } from '../state/range.js';
import { bucketTimes, valuesAt } from './buckets.js';
import charts from './charts.module.css';
import { TimeChart } from './TimeChart.js';
import { DURATION_STEPS } from './values.js';

const INTERVALS = { '1m': 'minute', '5m': '5 minutes', '1h': 'hour', '1d': 'UTC day' } as const;

type Bucket = Schemas['RunSeriesList']['groups'][number]['buckets'][number];

function costPerRun({ cost, priced_runs }: Bucket): number | null {
  return cost === null || priced_runs === 0 ? null : cost / priced_runs;
}

/**
 * Runs and cost over time. A click on a bar opens its runs, a drag selects a range.
 *
 * @param series ungrouped
 * @param runs path of the list of these runs, with other filters in its query
 */
export function RunCharts({
  series,
  runs,
  isDetailed = false,
  onBrush,
}: {
  readonly series: Schemas['RunSeriesList'];
  readonly runs: string;
  /** With cost per run and durations. */
  readonly isDetailed?: boolean;
  readonly onBrush: (start: number, end: number) => void;
}) {
  const drawn = useMemo(() => {
    const times = bucketTimes(series);
    const buckets = series.groups[0]?.buckets ?? [];
    const each = (value: (bucket: Bucket) => number | null, otherwise: 0 | null) =>
      valuesAt(times, buckets, value, otherwise);
    return {
      times,
      runs: [
        { name: 'runs', values: each((bucket) => bucket.runs, 0), tone: 'quiet' as const },
        { name: 'failed', values: each(({ failed }) => failed, 0), tone: 'fail' as const },
      ],
      cost: [{ name: 'cost', values: each(({ cost }) => cost, null) }],
      costPerRun: [{ name: 'cost per run', values: each(costPerRun, null) }],
      durations: [
        { name: 'p95', values: each(({ p95_ms }) => p95_ms, null) },
        { name: 'p50', values: each(({ p50_ms }) => p50_ms, null), tone: 'quiet' as const },
      ],
    };
  }, [series]);
  const [, navigate] = useLocation();
  const shared = {
    times: drawn.times,
    range: [Date.parse(series.start_time), Date.parse(series.end_time)] as const,
    note: `per ${INTERVALS[series.interval]}`,
    onBrush,
    onPick: (start: number, end: number): void => {
      const range = `range=${encodeURIComponent(rangeBetween(start, end - 1))}`;
      navigate(`${runs}${runs.includes('?') ? '&' : '?'}${range}`);
    },
  };
  const unpriced = 'No run has a cost';
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Runs"
        kind="bars"
        lines={drawn.runs}
        format={formatCount}
        missing="No runs in this interval"
        {...shared}
      />
      <TimeChart
        title="Cost"
        kind="bars"
        lines={drawn.cost}
        format={formatMoney}
        missing={unpriced}
        {...shared}
      />
      {isDetailed && (
        <>
          <TimeChart
            title="Cost per run"
            kind="bars"
            lines={drawn.costPerRun}
            format={formatMoney}
            missing={unpriced}
            {...shared}
          />
          <TimeChart
            title="Duration"
            lines={drawn.durations}
            format={formatDuration}
            steps={DURATION_STEPS}
            missing="No runs ended in this interval"
            {...shared}
          />
        </>
      )}
    </div>
  );
}
