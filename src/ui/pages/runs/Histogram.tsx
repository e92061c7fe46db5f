import { useMemo } from 'react';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatCount, formatCounted } from '../../format/number.js';
import { onDrawn, rangeBetween } from '../../state/range.js';
import { useSeries } from '../../state/use-series.js';
import { notInSeries, seriesFilter, type RunsState } from './runs-state.js';

/** Shorter drags select nothing. */
const MIN_MS = 1000;
const HEIGHT = 96;

/** Runs and failed runs over time, filtered like the list; dragging selects a period. The note says which filters do not apply. */
export function Histogram({
  state,
  onBrush,
}: {
  readonly state: RunsState;
  readonly onBrush: (range: string) => void;
}) {
  const { range } = state;
  const ignored = notInSeries(state);
  const { data } = useSeries(range === 'all' ? '30d' : range, seriesFilter(state));
  const drawn = useMemo(() => {
    if (!data) return { times: [], lines: [] };
    const times = bucketTimes(data);
    const buckets = data.groups[0]?.buckets ?? [];
    return {
      times,
      lines: [
        { name: 'runs', values: valuesAt(times, buckets, ({ runs }) => runs, 0), tone: 'quiet' as const },
        {
          name: 'failed',
          values: valuesAt(times, buckets, ({ failed }) => failed, 0),
          tone: 'fail' as const,
        },
      ],
    };
  }, [data]);
  if (!data) return <div style={{ height: HEIGHT }} />;
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Runs"
        note={[
          formatCounted(data.total.runs, 'run'),
          ...(range === 'all' ? ['in the last 30 days'] : []),
          ...(ignored.length === 0 ? [] : [`not filtered by ${ignored.join(', ')}`]),
        ].join(', ')}
        {...drawn}
        kind="bars"
        height={HEIGHT}
        range={[Date.parse(data.start_time), Date.parse(data.end_time)]}
        format={formatCount}
        missing="No runs in this interval"
        onBrush={onDrawn(MIN_MS, onBrush)}
        onPick={(start, end) => {
          onBrush(rangeBetween(start, end - 1));
        }}
      />
    </div>
  );
}
