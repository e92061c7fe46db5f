import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatBytes, formatCount, formatPercentage } from '../../format/number.js';
import { Count, Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { useNow } from '../../state/clock.js';
import { forecast } from './forecast.js';
import { Refused } from './Refused.js';
import { WhereIsIt } from './WhereIsIt.js';

const DAYS = 31;
const DAY_MS = 86_400_000;
const REFRESH_MS = 15_000;

/** Usage of the month against its limit, a forecast, refused items, and a search for a trace. */
export default function Usage() {
  const usage = useQuery({
    queryKey: ['usage'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/usage', { signal })),
    refetchInterval: REFRESH_MS,
  });
  const daily = useQuery({
    queryKey: ['usage-daily'],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/usage/daily', { params: { query: { days: DAYS } }, signal })),
    refetchInterval: REFRESH_MS,
  });
  const error = usage.error ?? daily.error;
  return (
    <div className={parts['page']}>
      <title>Usage · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Usage</h1>
        <ZoneNote />
      </div>
      {usage.data && daily.data ? (
        <>
          <Month usage={usage.data} daily={daily.data} />
          <Days daily={daily.data} />
        </>
      ) : error ? (
        <Failure
          error={error}
          retry={() => {
            void usage.refetch();
            void daily.refetch();
          }}
        />
      ) : (
        <TableSkeleton rows={5} />
      )}
      {!(error && !usage.data) && (
        <>
          <WhereIsIt />
          <Refused />
        </>
      )}
    </div>
  );
}

type Daily = readonly Schemas['DailyUsage'][];

function Month({ usage, daily }: { readonly usage: Schemas['MonthlyUsage']; readonly daily: Daily }) {
  const now = useNow();
  const { used, limit, period, resets_at, stored_bytes: stored } = usage;
  const coming = forecast(used, limit, daily, resets_at, now);
  const isOver = limit !== null && used >= limit;
  const share = stored.limit === null ? 0 : (stored.used ?? 0) / stored.limit;
  const isFull = share >= 1;
  return (
    <dl className={parts['figures']}>
      <div>
        <dt>Events in {period} (UTC month)</dt>
        <dd className={isOver ? parts['bad'] : undefined}>
          <Count value={used} missing="" />
          <small>1 span = 1 event; metrics and logs per quota settings</small>
        </dd>
      </div>
      <div>
        <dt>Limit</dt>
        <dd>
          {limit === null ? 'none' : <Count value={limit} missing="" />}
          {limit !== null && limit > 0 && (
            <small>
              {isOver ? 'reached: new data is refused' : `${formatPercentage((used / limit) * 100)} used`}
            </small>
          )}
        </dd>
      </div>
      <div>
        <dt>Projected by the end of the month</dt>
        <dd className={(coming?.reachedOn ?? null) !== null ? parts['bad'] : undefined}>
          {coming === null ? (
            <>
              <Missing reason="Needs two full days of data" />
              <small>available after two full days</small>
            </>
          ) : (
            <>
              ~<Count value={coming.total} missing="" />
              <small>
                at the rate of the last {coming.days} full UTC days: {formatCount(Math.round(coming.perDay))}{' '}
                per day
                {coming.reachedOn !== null && !isOver && `; limit reached on ${coming.reachedOn}`}
              </small>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Storage</dt>
        <dd className={isFull ? parts['bad'] : undefined}>
          {stored.used === null ? <Missing reason="Not measured yet" /> : formatBytes(stored.used)}
          <small>
            {stored.limit === null
              ? 'no limit'
              : isFull
                ? `limit of ${formatBytes(stored.limit)} reached: new data is refused`
                : `${formatPercentage(share * 100)} of ${formatBytes(stored.limit)}`}
          </small>
        </dd>
      </div>
      <div>
        <dt>Resets</dt>
        <dd>
          <Time at={resets_at} relative />
          <small>
            <Time at={resets_at} />
          </small>
        </dd>
      </div>
    </dl>
  );
}

function Days({ daily }: { readonly daily: Daily }) {
  const drawn = useMemo(() => {
    const times = daily.map(({ date }) => Date.parse(date));
    return {
      times,
      events: [{ name: 'events', values: daily.map(({ events }) => events), tone: 'quiet' as const }],
      refused: [{ name: 'refused', values: daily.map(({ refused }) => refused), tone: 'fail' as const }],
      range: [times[0] ?? 0, (times.at(-1) ?? 0) + DAY_MS] as const,
    };
  }, [daily]);
  const reasons = new Map<string, number>();
  for (const day of daily)
    for (const { code, items } of day.reasons) reasons.set(code, (reasons.get(code) ?? 0) + items);
  const sum = daily.reduce((all, { refused }) => all + (refused ?? 0), 0);
  const shared = { kind: 'bars', times: drawn.times, range: drawn.range, format: formatCount } as const;
  return (
    <div className={charts['charts']}>
      <TimeChart
        {...shared}
        title="Events"
        note="per UTC day"
        lines={drawn.events}
        missing="Not counted by day yet"
      />
      <TimeChart
        {...shared}
        title="Refused"
        note={[
          `${formatCount(sum)} total`,
          ...[...reasons].map(([code, items]) => `${code} ${formatCount(items)}`),
        ].join(', ')}
        lines={drawn.refused}
        missing="Unknown: before the daemon started"
      />
    </div>
  );
}
