import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { Bars } from '../../charts/Bars.js';
import charts from '../../charts/charts.module.css';
import { formatCount, formatCounted, formatMoney } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import { Count, Money, Percentage, Time } from '../../parts/figures.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RunTable } from '../../parts/RunTable.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { ApiError } from '../../api/client.js';
import { integer, oneOf } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { AgentDurations } from './AgentDurations.js';
import { AgentModels } from './AgentModels.js';
import { AgentScores } from './AgentScores.js';
import { useAlertUpdates, useRules } from '../alerts/load.js';
import { RULE_COLUMNS } from '../alerts/rule-columns.js';
import { Table } from '../../parts/Table.js';
import styles from './Agent.module.css';

const COLUMNS = RULE_COLUMNS.filter(({ name }) => name !== 'target');

/** The alerts on an agent with their state. Renders nothing without alerts. */
function AgentAlerts({ agentId }: { readonly agentId: string }) {
  const { data } = useRules();
  useAlertUpdates();
  const items = data?.filter(({ agent_id }) => agent_id === agentId) ?? [];
  if (items.length === 0) return null;
  return (
    <section className={styles['section']}>
      <h2>Alerts</h2>
      <Table label="Alerts" items={items} columns={COLUMNS} keyOf={({ id }) => id} />
    </section>
  );
}

const PAGE_SIZE = 20;
const WINDOWS = ['7', '30', '90'] as const;
const STATE = {
  days: oneOf(WINDOWS, '30'),
  status: oneOf(['', 'completed', 'failed', 'timed_out', 'running'], ''),
  page: integer(1, 1),
};

/** An agent: runs and costs per day, models and runs. */
export default function Agent({ id }: { readonly id: string }) {
  const [{ days, status, page }, change] = useUrlState(STATE);
  const path = { agent_id: id };
  const agent = useQuery({
    queryKey: ['agent', id],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/agents/{agent_id}', { params: { path }, signal })),
  });
  const stats = useQuery({
    queryKey: ['agent-stats', id, days],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/agents/{agent_id}/stats', { params: { path, query: { days } }, signal })),
    placeholderData: keepPreviousData,
  });
  const runs = useQuery({
    queryKey: ['agent-runs', id, status, page],
    queryFn: ({ signal }) => {
      const query = {
        page,
        page_size: PAGE_SIZE,
        kind: 'all' as const,
        ...(status === '' ? {} : { status }),
      };
      return bodyOf(api.GET('/api/v1/agents/{agent_id}/runs', { params: { path, query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  if (agent.error instanceof ApiError && [404, 422].includes(agent.error.status))
    return (
      <Empty title="Agent not found" isPage>
        <title>No such agent · Jackdaw</title>
        <p>
          It may belong to another user. <Link href="/agents">All agents</Link>
        </p>
      </Empty>
    );
  if (agent.error && !agent.data)
    return <Failure isPage error={agent.error} retry={() => void agent.refetch()} />;
  const name = agent.data?.name ?? '';
  return (
    <div className={parts['page']}>
      <title>{`${name} · Jackdaw`}</title>
      <div className={parts['head']}>
        <h1>{agent.data ? name || '(no name)' : ' '}</h1>
        <ZoneNote />
      </div>
      {agent.data ? <Figures agent={agent.data} /> : <TableSkeleton rows={2} />}
      <AgentAlerts agentId={id} />
      <div className={parts['head']}>
        <h2>Last {days} days</h2>
        <div role="group" aria-label="Days" className={parts['label']}>
          {WINDOWS.map((window) => (
            <button
              key={window}
              type="button"
              className={parts['button']}
              aria-pressed={window === days}
              onClick={() => {
                change({ days: window });
              }}
            >
              {window} days
            </button>
          ))}
        </div>
      </div>
      {stats.data ? (
        <Charts stats={stats.data} />
      ) : stats.error ? (
        <Failure error={stats.error} retry={() => void stats.refetch()} />
      ) : (
        <TableSkeleton rows={3} />
      )}
      <AgentDurations agentId={id} days={Number(days)} />
      <AgentModels agentId={id} range={`${days}d`} title={`Models in ${days} days`} />
      <AgentScores agentId={id} range={`${days}d`} title={`Scores in ${days} days`} />
      <div className={parts['head']}>
        <h2>Runs</h2>
        <div role="group" aria-label="Status" className={parts['label']}>
          {(['', 'failed', 'running'] as const).map((each) => (
            <button
              key={each}
              type="button"
              className={cx(parts['button'])}
              aria-pressed={each === status}
              onClick={() => {
                change({ status: each, page: 1 });
              }}
            >
              {{ '': 'All', failed: 'Failed', running: 'Running' }[each]}
            </button>
          ))}
        </div>
        <Link href={`/runs?agent=${id}&kind=all`}>All filters</Link>
        <Link href={`/users?agent=${id}`}>Users</Link>
      </div>
      {runs.error && !runs.data ? (
        <Failure error={runs.error} retry={() => void runs.refetch()} />
      ) : runs.data === undefined ? (
        <TableSkeleton rows={6} />
      ) : runs.data.items.length === 0 ? (
        <Empty title="No runs match" />
      ) : (
        <>
          <RunTable runs={runs.data.items} hide={['agent']} />
          <Pager
            page={page}
            pageSize={PAGE_SIZE}
            count={runs.data.count}
            hasMore={runs.data.has_more}
            noun={runs.data.count === 1 ? 'run' : 'runs'}
            onChange={(next) => {
              change({ page: next });
            }}
          />
        </>
      )}
    </div>
  );
}

function Figures({ agent }: { readonly agent: Schemas['AgentDetail'] }) {
  return (
    <dl className={parts['figures']} aria-label="All time">
      <div>
        <dt>Runs, all time</dt>
        <dd>
          <Count value={agent.total_runs} missing="" />
        </dd>
      </div>
      <div>
        <dt>Success</dt>
        <dd>
          <Percentage value={agent.success_percentage} missing="No run reports success or failure" />
          <small>of {formatCounted(agent.success_count + agent.failure_count, 'run')} that report it</small>
        </dd>
      </div>
      <div>
        <dt>Failed or timed out</dt>
        <dd className={agent.failed_runs > 0 ? parts['bad'] : undefined}>
          <Percentage value={agent.failure_percentage} missing="No run has ended yet" />
          <small>{formatCounted(agent.failed_runs, 'run')}</small>
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>
          <Money value={agent.total_cost} missing="No run has a cost" />
          <small>
            <Money value={agent.avg_cost_per_run} missing="No run has a cost" /> per priced run
          </small>
        </dd>
      </div>
      <div>
        <dt>Last run</dt>
        <dd>
          <Time at={agent.last_run_at} relative missing="No runs yet" />
          {agent.last_run_at !== null && (
            <small>
              <Time at={agent.last_run_at} />
            </small>
          )}
        </dd>
      </div>
    </dl>
  );
}

function Charts({ stats: { daily } }: { readonly stats: Schemas['AgentStats'] }) {
  const unit = 'UTC day';
  const largest = (values: readonly number[]): number => Math.max(0, ...values);
  return (
    <div className={charts['charts']}>
      <Bars
        title="Runs"
        unit={unit}
        top={`peak ${formatCount(largest(daily.map((day) => day.total_runs)))}/day`}
        bars={daily.map((day) => ({
          label: day.date.slice(5),
          value: day.total_runs,
          bad: day.failed_runs,
          words: `${formatCounted(day.total_runs, 'run')}, ${formatCount(day.failed_runs)} failed`,
        }))}
      />
      <Bars
        title="Cost"
        unit={unit}
        tone="accent"
        top={`${formatMoney(daily.reduce((sum, day) => sum + day.total_cost, 0))} total`}
        bars={daily.map((day) => ({
          label: day.date.slice(5),
          value: day.total_cost,
          words: `${formatMoney(day.total_cost)}, ${formatCounted(day.total_tokens, 'token')}`,
        }))}
      />
    </div>
  );
}
