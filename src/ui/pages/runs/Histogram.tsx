import { useMemo } from 'react';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import type { Schemas } from '../../api/client.js';
import { formatCount, formatCounted } from '../../format/number.js';
import { Time } from '../../parts/figures.js';
import { onDrawn, rangeBetween } from '../../state/range.js';
import { useSeries } from '../../state/use-series.js';
import { isSearch, notInSeries, seriesFilter, type RunsState } from './runs-state.js';
import { OLDEST_FOUND } from './use-runs.js';

/** Shorter drags select nothing. */
const MIN_MS = 1000;
const HEIGHT = 96;
/** The range of the chart for a list of all time. */
const USUAL = '30d';

type Found = Schemas['FoundRunsSeries'];

interface Props {
  readonly state: RunsState;
  readonly onBrush: (range: string) => void;
}

/**
 * Runs and failed runs over time, filtered like the list; dragging selects a period. The note says which filters do not apply.
 *
 * @param found the result of a search; undefined while it loads
 */
export function Histogram({ found, ...props }: Props & { readonly found: Found | undefined }) {
  if (!isSearch(props.state)) return <Listed {...props} />;
  return found ? <Searched {...props} found={found} /> : <div style={{ height: HEIGHT }} />;
}

function Searched({ state: { range }, found, onBrush }: Props & { readonly found: Found }) {
  const isAll = range === 'all';
  const data = useMemo(() => (isAll ? trimmed(found) : found), [isAll, found]);
  const isWhole = isAll && found.searched_back_to === null;
  const note = `${formatCounted(found.runs, 'run')}${isWhole ? ` in the last ${OLDEST_FOUND.label}` : ''}`;
  return <Bars data={data} note={note} onBrush={onBrush} />;
}

/** A list without a search. */
function Listed({ state, onBrush }: Props) {
  const { range } = state;
  const ignored = notInSeries(state);
  const { data } = useSeries(range === 'all' ? USUAL : range, seriesFilter(state));
  const series = useMemo(
    () => data && { ...data, buckets: data.groups[0]?.buckets ?? [], searched_back_to: null },
    [data],
  );
  if (!data || !series) return <div style={{ height: HEIGHT }} />;
  const period = range === 'all' ? ' in the last 30 days' : '';
  const unfiltered = ignored.length === 0 ? '' : `, not filtered by ${ignored.join(', ')}`;
  const note = `${formatCounted(data.total.runs, 'run')}${period}${unfiltered}`;
  return <Bars data={series} note={note} onBrush={onBrush} />;
}

/** Without the empty years before the first run that was found, but with at least 30 days. */
function trimmed(found: Found): Found {
  const usual = Date.parse(found.end_time) - 30 * 86_400_000;
  const first = Date.parse(found.buckets[0]?.start ?? found.end_time);
  return { ...found, start_time: new Date(Math.min(usual, first)).toISOString() };
}

function Bars({
  data,
  note,
  onBrush,
}: {
  readonly data: Pick<Schemas['RunSeriesList'], 'interval' | 'start_time' | 'end_time'> & {
    readonly buckets: readonly Pick<Schemas['RunSeries']['buckets'][number], 'start' | 'runs' | 'failed'>[];
    readonly searched_back_to: string | null;
  };
  readonly note: string;
  readonly onBrush: (range: string) => void;
}) {
  const { searched_back_to: back } = data;
  const drawn = useMemo(() => {
    const times = bucketTimes(data);
    const searchedFrom = back === null ? -Infinity : Date.parse(back);
    const values = (of: (bucket: (typeof data.buckets)[number]) => number) =>
      valuesAt(times, data.buckets, of, 0).map((value, at) =>
        (times[at + 1] ?? Infinity) <= searchedFrom ? null : value,
      );
    return {
      times,
      lines: [
        { name: 'runs', values: values(({ runs }) => runs), tone: 'quiet' as const },
        { name: 'failed', values: values(({ failed }) => failed), tone: 'fail' as const },
      ],
    };
  }, [data, back]);
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Runs"
        note={
          <>
            {note}
            {back !== null && (
              <>
                ; searched back to <Time at={back} />
              </>
            )}
          </>
        }
        {...drawn}
        kind="bars"
        height={HEIGHT}
        range={[Date.parse(data.start_time), Date.parse(data.end_time)]}
        format={formatCount}
        missing={back === null ? 'No runs in this interval' : 'Not searched yet'}
        onBrush={onDrawn(MIN_MS, onBrush)}
        onPick={(start, end) => {
          onBrush(rangeBetween(start, end - 1));
        }}
      />
    </div>
  );
}
