import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatCounted, formatMeasured, unitName } from '../../format/number.js';
import { Choice } from '../../parts/Choice.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { onDrawn } from '../../state/range.js';
import { endsOf } from '../../state/use-series.js';
import { HeatStrip } from './HeatStrip.js';
import styles from './metrics.module.css';
import {
  AGGREGATION_NAMES,
  aggregationOf,
  namesOf,
  pairsOf,
  printPairs,
  stepTimes,
  SUITED,
  valuesOf,
  type MetricsState,
} from './metrics-state.js';
import { Time } from '../../parts/figures.js';

const MAX_POINTS = 200;
const MAX_SHOWN = 20;

/** Runs linked by exemplars. */
function Exemplars({
  name,
  range,
  labels,
}: {
  readonly name: string;
  readonly range: string;
  readonly labels: string;
}) {
  const { data } = useQuery({
    queryKey: ['exemplars', name, range, labels],
    queryFn: ({ signal }) => {
      const pairs = JSON.stringify(pairsOf(labels));
      const query = { name, ...endsOf(range), labels: pairs, limit: MAX_POINTS, details: true };
      return bodyOf(api.GET('/api/v1/dashboard/metrics/query', { params: { query }, signal }));
    },
  });
  const found = (data?.data_points ?? [])
    .flatMap(({ timestamp, exemplars = [] }) =>
      exemplars.map((each) => ({ ...each, timestamp: each.timestamp ?? timestamp })),
    )
    .filter(({ trace_id }) => trace_id !== null)
    .slice(0, MAX_SHOWN);
  if (found.length === 0) return null;
  return (
    <section className={styles['exemplars']}>
      <h2>Exemplars</h2>
      <ul>
        {found.map(({ timestamp, value, trace_id, span_id }, at) => (
          <li key={at}>
            <Time at={timestamp} />{' '}
            <Link href={`/traces/${trace_id ?? ''}${span_id === null ? '' : `?span=${span_id}`}`}>
              {value === null ? 'Open the run' : `Run with ${formatMeasured(value, data?.unit ?? '')}`}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** More lines are hard to distinguish. */
const MAX_LINES = 6;
/** The only chart of the page. */
const CHART_PX = 280;
const MIN_MS = 1000;
const REFRESH_MS = 30_000;

interface Props {
  readonly metric: Schemas['Metric'];
  readonly state: MetricsState;
  readonly change: (some: Partial<MetricsState>) => void;
}

/** A metric over time as lines, or as rows of colour for many series. */
export function OneMetric({ metric, state, change }: Props) {
  const { name, type, unit, description } = metric;
  const agg = aggregationOf(type, state.agg);
  const pairs = pairsOf(state.where);
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['metric-series', name, agg, state.by, state.where, state.range],
    queryFn: ({ signal }) => {
      const group = state.by === '' ? {} : { group_by: state.by === '*' ? '' : state.by };
      const query = { name, agg, ...endsOf(state.range), ...group, labels: JSON.stringify(pairs) };
      return bodyOf(api.GET('/api/v1/dashboard/metrics/series', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  // The rate of a histogram counts measurements and has no unit.
  const isCount = agg === 'rate' && type !== 'sum';
  const format = (value: number) => formatMeasured(value, isCount ? '' : unit, agg === 'rate');
  return (
    <div className={parts['page']}>
      <title>{`${name} · Metrics · Jackdaw`}</title>
      <p>
        <Link href="/explore/metrics">All metrics</Link>
      </p>
      <div className={parts['head']}>
        <h1>{name}</h1>
        <ZoneNote />
      </div>
      <p className={styles['about']}>
        {[description, type.replace('_', ' '), unitName(unit)].filter((each) => each !== '').join(' · ')}
      </p>
      <Controls metric={metric} state={state} change={change} agg={agg} pairs={pairs} />
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton rows={6} />
      ) : data.series.length === 0 ? (
        <Empty title="No data in this period">
          <p>Widen the time range or remove a label.</p>
        </Empty>
      ) : (
        <div aria-busy={isPlaceholderData}>
          <Drawn
            answer={data}
            title={AGGREGATION_NAMES[agg]}
            format={format}
            onBrush={(range) => {
              change({ range });
            }}
          />
        </div>
      )}
      <Exemplars name={name} range={state.range} labels={state.where} />
    </div>
  );
}

function Controls({
  metric: { name, type },
  state,
  change,
  agg,
  pairs,
}: Props & { readonly agg: string; readonly pairs: Readonly<Record<string, string>> }) {
  const { start_time } = endsOf(state.range);
  const { data: labels = [] } = useQuery({
    queryKey: ['metric-labels', name, state.range],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/metrics/labels', { params: { query: { name, start_time } }, signal }),
      ),
  });
  const keys = Object.fromEntries(labels.map(({ key }) => [key, key]));
  const choices = labels.flatMap(({ key, values }) => values.map((value) => ({ key, value })));
  return (
    <div className={parts['filters']} role="group" aria-label="Filters">
      <RangeChoice
        label="Period"
        bounded
        value={state.range}
        onChange={(range) => {
          change({ range });
        }}
      />
      <Choice
        label="Value"
        value={agg}
        options={Object.fromEntries(SUITED[type].map((each) => [each, AGGREGATION_NAMES[each]]))}
        onChange={(value) => {
          change({ agg: SUITED[type].find((each) => each === value) ?? '' });
        }}
      />
      <Choice
        label="Group by"
        value={state.by}
        options={{
          '': 'All labels',
          '*': 'None',
          ...keys,
          ...(state.by === '' || state.by === '*' ? {} : { [state.by]: state.by }),
        }}
        onChange={(by) => {
          change({ by });
        }}
      />
      <label className={parts['label']}>
        Filter
        <select
          className={parts['field']}
          value=""
          onChange={({ target }) => {
            const selected = choices[Number(target.value)];
            if (selected) change({ where: printPairs({ ...pairs, [selected.key]: selected.value }) });
          }}
        >
          <option value="">Label…</option>
          {choices.map(({ key, value }, at) => (
            <option key={`${key}=${value}`} value={at}>
              {key} = {value}
            </option>
          ))}
        </select>
      </label>
      {Object.entries(pairs).map(([key, value]) => (
        <button
          key={key}
          type="button"
          className={parts['button']}
          onClick={() => {
            change({
              where: printPairs(Object.fromEntries(Object.entries(pairs).filter(([each]) => each !== key))),
            });
          }}
        >
          {key}: {value} <X size={14} aria-hidden="true" />
          <span className={parts['unseen']}>remove</span>
        </button>
      ))}
    </div>
  );
}

function Drawn({
  answer,
  title,
  format,
  onBrush,
}: {
  readonly answer: Schemas['MetricSeriesList'];
  readonly title: string;
  readonly format: (value: number) => string;
  readonly onBrush: (range: string) => void;
}) {
  const { times, rows, lines } = useMemo(() => {
    const steps = stepTimes(answer);
    const names = namesOf(answer.series);
    const all = answer.series.map((series, at) => ({
      name: names[at] ?? '',
      values: valuesOf(steps, series),
      size: series.points.reduce((sum, [, value = 0]) => sum + Math.abs(value), 0),
    }));
    const largest = [...all].sort((a, b) => b.size - a.size);
    return { times: steps, rows: largest, lines: largest.slice(0, MAX_LINES) };
  }, [answer]);
  const count = answer.series.length;
  const more = count > MAX_LINES ? `; the ${String(MAX_LINES)} largest as lines, all below` : '';
  return (
    <>
      <div className={charts['charts']}>
        <TimeChart
          title={title}
          note={`${formatCounted(count, 'series', 'series')}${more}${answer.is_truncated ? '; truncated' : ''}`}
          times={times}
          lines={lines}
          range={[Date.parse(answer.start_time), Date.parse(answer.end_time)]}
          height={CHART_PX}
          format={format}
          missing="No data in this period"
          onBrush={onDrawn(MIN_MS, onBrush)}
        />
      </div>
      {count > 1 && <HeatStrip times={times} rows={rows} format={format} />}
    </>
  );
}
