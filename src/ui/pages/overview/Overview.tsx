import { useMemo } from 'react';
import type { Schemas } from '../../api/client.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { useFresh } from '../../live/use-fresh.js';
import { formatCount, formatMoney } from '../../format/number.js';
import { Change } from '../../parts/Change.js';
import { Count, Duration, Money, Percentage, Elapsed, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { parseState } from '../../state/codec.js';
import { queries, ignoreEarlyFailure } from '../../state/queries.js';
import { rangeBetween, rangeField } from '../../state/range.js';
import { seriesQuery, useSeries } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';
import { FirstRun } from '../agents/FirstRun.js';
import {
  AGENT_COUNT,
  NEWEST_RUN,
  useAgentCount,
  useNewestRun,
  useOpenFirstRun,
} from '../agents/use-first-runs.js';
import { AlertFirings, RecentFailures, Regressions, UnpricedModels } from './Cards.js';
import styles from './Overview.module.css';
import { Link, useLocation } from 'wouter';
import { Status } from '../../parts/Status.js';

const STATE = { range: rangeField('24h', true) };

/** Starts the first requests. */
export function early(): void {
  queries.query(seriesQuery(parseState(STATE, location.search).range)).catch(ignoreEarlyFailure);
  queries.query(AGENT_COUNT).catch(ignoreEarlyFailure);
}

/** All agents compared with the previous period, and what needs attention. */
export default function Overview() {
  const { isEmpty, first } = useBeginning();
  useFresh('series', 'overview-failures', NEWEST_RUN);
  return isEmpty ? <FirstRun /> : <Filled first={first} />;
}

function Filled({ first }: { readonly first: Schemas['Run'] | undefined }) {
  const [{ range }, change] = useUrlState(STATE);
  return (
    <div className={parts['page']}>
      <title>Overview · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Overview</h1>
        <ZoneNote />
        <RangeChoice
          bounded
          label="Period"
          value={range}
          onChange={(value) => {
            change({ range: value });
          }}
        />
      </div>
      {first && <Welcome run={first} />}
      <Figures
        range={range}
        onBrush={(start, end) => {
          change({ range: rangeBetween(start, end) });
        }}
      />
      <div className={styles['grid']}>
        <div>
          <AlertFirings range={range} />
          <RecentFailures range={range} />
        </div>
        <div>
          <Regressions range={range} />
          <UnpricedModels range={range} />
        </div>
      </div>
    </div>
  );
}

/** Rendered before the cards so that its request is sent first; the daemon answers in order. */
function Figures({
  range,
  onBrush,
}: {
  readonly range: string;
  readonly onBrush: (start: number, end: number) => void;
}) {
  const { data, error, refetch } = useSeries(range);
  if (data === undefined)
    return error ? <Failure error={error} retry={() => void refetch()} /> : <TableSkeleton rows={6} />;
  return (
    <>
      <Totals series={data} />
      <Charts series={data} onBrush={onBrush} />
    </>
  );
}

const BEFORE = 'the previous period';

function Totals({
  series: { total, previous_total: before },
}: {
  readonly series: Schemas['RunSeriesList'];
}) {
  const share = ({ failed, runs }: Schemas['RunTotals']) => (runs === 0 ? null : (100 * failed) / runs);
  return (
    <dl className={parts['figures']}>
      <div>
        <dt>Runs</dt>
        <dd>
          <Count value={total.runs} missing="" />
          <Change now={total.runs} before={before.runs} of={BEFORE} />
        </dd>
      </div>
      <div>
        <dt>Failed or timed out</dt>
        <dd className={total.failed > 0 ? parts['bad'] : undefined}>
          <Percentage value={share(total)} missing="No runs in this period" />
          <small>
            {formatCount(total.failed)} of {formatCount(total.runs)}
          </small>
          <small>
            <Percentage value={share(before)} missing="No runs in the previous period" /> in {BEFORE}
          </small>
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>
          <Money value={total.cost} missing="No run has a cost" />
          {total.cost !== null && <CostEach {...total} cost={total.cost} />}
          <Change now={total.cost} before={before.cost} of={BEFORE} isBad />
        </dd>
      </div>
      <div>
        <dt>p95 duration</dt>
        <dd>
          <Duration value={total.p95_ms} missing="No runs ended in this period" />
          <small>of {formatCount(total.runs)} runs</small>
          <Change now={total.p95_ms} before={before.p95_ms} of={BEFORE} isBad />
        </dd>
      </div>
    </dl>
  );
}

function CostEach({
  cost,
  runs,
  priced_runs: priced,
}: Pick<Schemas['RunTotals'], 'runs' | 'priced_runs'> & { readonly cost: number }) {
  return (
    <small>
      {formatMoney(cost / priced)} per run{priced < runs && `, of ${formatCount(priced)} priced runs`}
    </small>
  );
}

function Charts({
  series,
  onBrush,
}: {
  readonly series: Schemas['RunSeriesList'];
  readonly onBrush: (start: number, end: number) => void;
}) {
  const drawn = useMemo(() => {
    const times = bucketTimes(series);
    const buckets = series.groups[0]?.buckets ?? [];
    return {
      times,
      runs: [
        { name: 'runs', values: valuesAt(times, buckets, ({ runs }) => runs, 0), tone: 'quiet' as const },
        {
          name: 'failed',
          values: valuesAt(times, buckets, ({ failed }) => failed, 0),
          tone: 'fail' as const,
        },
      ],
      cost: [{ name: 'cost', values: valuesAt(times, buckets, ({ cost }) => cost, null) }],
    };
  }, [series]);
  const range: [number, number] = [Date.parse(series.start_time), Date.parse(series.end_time)];
  const [, navigate] = useLocation();
  const onPick = (start: number, end: number): void => {
    navigate(`/runs?range=${encodeURIComponent(rangeBetween(start, end - 1))}`);
  };
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Runs"
        note={`per ${INTERVALS[series.interval]}`}
        times={drawn.times}
        lines={drawn.runs}
        kind="bars"
        range={range}
        format={formatCount}
        missing="No runs in this interval"
        onBrush={onBrush}
        onPick={onPick}
      />
      <TimeChart
        title="Cost"
        note={`per ${INTERVALS[series.interval]}`}
        times={drawn.times}
        lines={drawn.cost}
        kind="bars"
        range={range}
        format={formatMoney}
        missing="No run has a cost"
        onBrush={onBrush}
        onPick={onPick}
      />
    </div>
  );
}

const INTERVALS = { '1m': 'minute', '5m': '5 minutes', '1h': 'hour', '1d': 'UTC day' } as const;

/** The state of a new store, for the welcome texts. */
function useBeginning(): { readonly isEmpty: boolean; readonly first: Schemas['Run'] | undefined } {
  const { data } = useAgentCount();
  const isEmpty = data?.count === 0;
  useOpenFirstRun(isEmpty);
  const isFirst = data?.count === 1 && data.items[0]?.total_runs === 1;
  const newest = useNewestRun('agent', isFirst);
  return { isEmpty, first: (!isEmpty && newest) || undefined };
}

/** Announces the first run with a link to it. */
function Welcome({ run }: { readonly run: Schemas['Run'] }) {
  const { trace_id, agent_name: name, status, started_at, duration_ms } = run;
  return (
    <section className={styles['welcome']} aria-label="The first run">
      <p>
        <strong role="status">It works: runs are coming in.</strong>{' '}
        <Link href={`/traces/${trace_id}`}>{name === '' ? '(no name)' : name}</Link>{' '}
        <span className={styles['came']}>
          <Status status={status} />
          {status === 'running' && duration_ms === null ? (
            <Elapsed since={started_at} />
          ) : (
            <Duration value={duration_ms} missing="Still running" />
          )}
          <Time at={started_at} relative />
        </span>
      </p>
      <Link className={parts['button']} href={`/traces/${trace_id}`}>
        Open the run
      </Link>
    </section>
  );
}
