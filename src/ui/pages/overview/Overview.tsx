import type { Schemas } from '../../api/client.js';
import { RunCharts } from '../../charts/RunCharts.js';
import { useFresh } from '../../live/use-fresh.js';
import { formatCount, formatMoney, formatPercentage } from '../../format/number.js';
import { Change } from '../../parts/Change.js';
import { Count, Duration, Money, Percentage, Elapsed, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { oneOf, parseState } from '../../state/codec.js';
import { queries, ignoreEarlyFailure } from '../../state/queries.js';
import { PAGE_RANGES, rangeBetween, rangeField } from '../../state/range.js';
import { seriesQuery, useSeries } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';
import { FirstRun } from '../agents/FirstRun.js';
import { GROUP_FIELDS, GroupTable } from '../agents/GroupTable.js';
import {
  AGENT_COUNT,
  NEWEST_RUN,
  useAgentCount,
  useNewestRun,
  useOpenFirstRun,
} from '../agents/use-first-runs.js';
import { AlertFirings, RecentFailures, Regressions, UnpricedModels } from './Cards.js';
import styles from './Overview.module.css';
import { Link } from 'wouter';
import { Status } from '../../parts/Status.js';

const STATE = { range: rangeField(PAGE_RANGES['/'], true), by: oneOf(GROUP_FIELDS, 'agent') };

/** Starts the first requests. */
export function early(): void {
  queries.query(seriesQuery(parseState(STATE, location.search).range)).catch(ignoreEarlyFailure);
  queries.query(AGENT_COUNT).catch(ignoreEarlyFailure);
}

/** All agents compared with the previous period, and what needs attention. */
export default function Overview() {
  const { isEmpty, first } = useBeginning();
  useFresh('series', 'groups', 'overview-failures', NEWEST_RUN);
  return isEmpty ? <FirstRun /> : <Filled first={first} />;
}

function Filled({ first }: { readonly first: Schemas['Run'] | undefined }) {
  const [{ range, by }, change] = useUrlState(STATE);
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
          <Regressions range={range} />
          <RecentFailures range={range} />
        </div>
        <div>
          <AlertFirings range={range} />
          <UnpricedModels range={range} />
        </div>
      </div>
      <GroupTable
        range={range}
        field={by}
        onField={(field) => {
          change({ by: field }, 'replace');
        }}
      />
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
      <RunCharts series={data} runs="/runs" onBrush={onBrush} />
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
  const lastShare = share(before);
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
            {lastShare === null ? 'no data to compare' : `${formatPercentage(lastShare)} in ${BEFORE}`}
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
