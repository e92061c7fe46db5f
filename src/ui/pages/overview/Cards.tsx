import { useQuery } from '@tanstack/react-query';
import { useId, type ReactNode } from 'react';
import { Link } from 'wouter';
import { api, ApiError, bodyOf, type Schemas } from '../../api/client.js';
import { formatDuration } from '../../format/duration.js';
import { formatCount, formatCounted, formatMoney, formatPercentage } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import { Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { runsOfModel } from '../../state/path.js';
import { endsOf } from '../../state/use-series.js';
import { formatFound, TYPES } from '../alerts/labels.js';
import { isUnpriced, modelName, unpricedReason } from '../models/model-figures.js';
import { failureRate, groupsQuery, successRate } from '../agents/GroupTable.js';
import styles from './Overview.module.css';

/** Items of a card. */
const LIMIT = 5;
const FAILURES_LIMIT = 6;
/** From this factor on, more tokens explain a higher cost. */
const MORE_TOKENS = 1.1;
const ALERTS_REFRESH_MS = 15_000;
const FAILURES_REFRESH_MS = 10_000;

/** Latest firings of alerts with one related run each. */
export function AlertFirings({ range }: { readonly range: string }) {
  const { data, error } = useQuery({
    queryKey: ['overview-alerts', range],
    queryFn: ({ signal }) => {
      const query = { ...endsOf(range), page: 1, page_size: LIMIT };
      return bodyOf(api.GET('/api/v1/dashboard/alert-events', { params: { query }, signal }));
    },
    refetchInterval: ALERTS_REFRESH_MS,
  });
  return (
    <Card
      title={
        data && data.count > LIMIT
          ? `Alert firings: latest ${String(LIMIT)} of ${String(data.count)}`
          : 'Alert firings'
      }
      all="/alerts"
      items={data?.items}
      error={error}
      keyOf={({ id }) => id}
      nothing="No alert fired in this period."
      render={({ alert_id, type, value, fired_at, resolved_at, target, trace_ids: [explains] }) => (
        <>
          <span>
            <Link href={`/alerts/${alert_id}`}>{TYPES[type]}</Link>
            {value !== null && ` ${formatFound(type, value)}`}
          </span>
          <Time at={fired_at} relative />
          <span className={styles['more']}>
            {target.kind === 'agent' ? <Link href={`/agents/${target.id}`}>{target.name}</Link> : target.name}
            {resolved_at === null && <span className={parts['bad']}> · ongoing</span>}
            {explains !== undefined && (
              <>
                {' · '}
                <Link href={`/traces/${explains}`}>related run</Link>
              </>
            )}
          </span>
        </>
      )}
    />
  );
}

/** Recently failed runs. */
export function RecentFailures({ range }: { readonly range: string }) {
  const { data, error } = useQuery({
    queryKey: ['overview-failures', range],
    queryFn: ({ signal }) => {
      const query = {
        ...endsOf(range),
        status: 'failed' as const,
        count: 'none' as const,
        page: 1,
        page_size: FAILURES_LIMIT,
      };
      return bodyOf(api.GET('/api/v1/dashboard/traces', { params: { query }, signal }));
    },
    refetchInterval: FAILURES_REFRESH_MS,
  });
  return (
    <Card
      title="Recent failures"
      all={`/runs?status=failed&range=${encodeURIComponent(range)}`}
      items={data?.items}
      error={error}
      keyOf={({ trace_id }) => trace_id}
      nothing="No failed runs in this period."
      render={({ trace_id, agent_name, started_at, error_message, outcome }) => (
        <>
          <Link href={`/traces/${trace_id}`}>{agent_name === '' ? '(no name)' : agent_name}</Link>
          <Time at={started_at} relative />
          <span className={styles['more']}>
            {error_message === null ? outcome : <span className={parts['bad']}>{error_message}</span>}
          </span>
        </>
      )}
    />
  );
}

/** Agents that got worse than in the previous period, and how. */
export function Regressions({ range }: { readonly range: string }) {
  const { data, error } = useQuery(
    groupsQuery(range, { group_by: 'agent', sort: 'regression', limit: LIMIT }),
  );
  return (
    <Card
      title="Regressions"
      all={`/agents?range=${encodeURIComponent(range)}`}
      items={data?.groups.filter(({ regressions }) => regressions.length > 0)}
      error={error}
      keyOf={({ key }) => String(key)}
      nothing="No regressions vs previous period. A longer period may show slower changes."
      render={({ key, name, total, previous_total: before, regressions }) => (
        <>
          <Link href={`/agents/${String(key)}?range=${encodeURIComponent(range)}`}>
            {name === '' ? '(no name)' : name}
          </Link>
          <span>
            {formatCount(total.runs)} runs, {formatCount(before.runs)} before
          </span>
          {regressions.map((regression) => (
            <span key={regression} className={cx(styles['more'], styles['whole'])}>
              {describeRegression(regression, total, before)}
            </span>
          ))}
        </>
      )}
    />
  );
}

type Totals = Schemas['PeriodTotals'];

/** What got worse, with the value before. */
function describeRegression(
  regression: Schemas['RunGroup']['regressions'][number],
  now: Totals,
  before: Totals,
): ReactNode {
  const share = (value: number | null): string => (value === null ? '–' : formatPercentage(value));
  if (regression === 'failures')
    return (
      <span className={parts['bad']}>
        {share(failureRate(now))} failed, {share(failureRate(before))} before
      </span>
    );
  if (regression === 'success')
    return `${share(successRate(now))} successful, ${share(successRate(before))} before`;
  if (regression === 'duration')
    return `p95 ${formatDuration(now.p95_ms ?? 0)}, ${formatDuration(before.p95_ms ?? 0)} before`;
  const tokens = ({ tokens, runs }: Totals): number => (tokens ?? 0) / Math.max(1, runs);
  const why =
    tokens(now) > MORE_TOKENS * tokens(before)
      ? `; ${formatCount(Math.round(tokens(now)))} tokens per run, ${formatCount(Math.round(tokens(before)))} before`
      : '';
  return `${formatMoney(now.cost_per_run ?? 0)} per run, ${formatMoney(before.cost_per_run ?? 0)} before${why}`;
}

/** Models with unpriced calls, which make cost totals too low. */
export function UnpricedModels({ range }: { readonly range: string }) {
  const { data, error } = useQuery({
    queryKey: ['overview-models', range],
    queryFn: async ({ signal }) => {
      const query = { ...endsOf(range), page: 1, page_size: 100, performance: true };
      return (await bodyOf(api.GET('/api/v1/dashboard/models', { params: { query }, signal }))).items;
    },
  });
  return (
    <Card
      title="Unpriced calls"
      all="/models"
      items={data?.filter(isUnpriced).slice(0, LIMIT)}
      error={error}
      keyOf={({ model }) => modelName(model)}
      nothing="All calls in this period have a cost."
      render={({ model, calls, priced_calls, total_tokens, performance }) => (
        <>
          {model === null || model === '' ? (
            <span>{modelName(model)}</span>
          ) : (
            <Link href={runsOfModel(model)}>{model}</Link>
          )}
          <span>{formatCounted(calls - priced_calls, 'call')} without a cost</span>
          <span className={styles['more']}>
            {unpricedReason(performance)}; {formatCounted(total_tokens, 'token')} in total
          </span>
        </>
      )}
    />
  );
}

interface Props<Item> {
  readonly title: string;
  /** Link to the complete list. */
  readonly all?: string;
  readonly items: readonly Item[] | undefined;
  readonly error: Error | null;
  readonly keyOf: (item: Item) => string;
  readonly nothing: string;
  readonly render: (item: Item) => ReactNode;
}

/** The first items of a list with its own page. */
function Card<Item>({ title, all, items, error, keyOf, nothing, render }: Props<Item>) {
  const id = useId();
  const reason = error instanceof ApiError ? error.message : 'The daemon did not respond.';
  return (
    <section className={styles['card']} aria-labelledby={id}>
      <h2>
        <span id={id}>{title}</span>
        {all !== undefined && (
          <Link href={all} aria-label={`All: ${title}`}>
            All
          </Link>
        )}
      </h2>
      {items === undefined ? (
        error ? (
          <p className={styles['nothing']} role="alert">
            Loading failed. {reason}
          </p>
        ) : (
          <TableSkeleton rows={3} />
        )
      ) : items.length === 0 ? (
        <p className={styles['nothing']}>{nothing}</p>
      ) : (
        <ul>
          {items.map((item) => (
            <li key={keyOf(item)}>{render(item)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}
