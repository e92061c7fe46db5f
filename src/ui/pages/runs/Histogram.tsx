import { useMemo } from 'react';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatCount, formatCounted } from '../../format/number.js';
import { onDrawn, rangeBetween } from '../../state/range.js';
import { useSeries } from '../../state/use-series.js';
import { dimensionQuery, type Dimensions, type RunsState } from './runs-state.js';

/** Shorter drags select nothing. */
const MIN_MS = 1000;
const HEIGHT = 96;

/**
 * Runs and failed runs over time; dragging selects a period. Filters on agent, prompt, environment, release, version
 * and repository apply, others do not, and the note says so.
 */
export function Histogram({
  state,
  isFiltered,
  onBrush,
}: {
  readonly state: Dimensions & Pick<RunsState, 'range' | 'agent' | 'prompt'>;
  /** Whether the list has filters. */
  readonly isFiltered: boolean;
  readonly onBrush: (range: string) => void;
}) {
  const { range, agent, prompt } = state;
  const query = {
    ...(agent === '' ? {} : { agent_id: agent }),
    ...(prompt === '' ? {} : { prompt_name: prompt }),
    ...dimensionQuery(state),
  };
  const { data } = useSeries(range === 'all' ? '30d' : range, query);
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
  const of = Object.keys(query).length > 0 ? 'of this agent, prompt, version or repository' : 'of all agents';
  const time = range === 'all' ? ' in the last 30 days' : '';
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Runs"
        note={`${formatCounted(data.total.runs, 'run')} ${of}${time}${isFiltered ? '; not affected by other filters' : ''}`}
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
