import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { RunCharts } from '../../charts/RunCharts.js';
import { formatCount, formatCounted } from '../../format/number.js';
import { Change } from '../../parts/Change.js';
import { cx } from '../../parts/cx.js';
import { Count, Duration, Money, Percentage, Time } from '../../parts/figures.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { RunTable } from '../../parts/RunTable.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { ApiError } from '../../api/client.js';
import { integer, oneOf } from '../../state/codec.js';
import { PAGE_RANGES, rangeBetween, rangeField } from '../../state/range.js';
import { endsOf, useSeries } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';
import { AgentScores } from './AgentScores.js';
import type { Rule } from '../alerts/labels.js';
import { useAlertUpdates, useRules } from '../alerts/load.js';
import { RULE_COLUMNS } from '../alerts/rule-columns.js';
import { Table } from '../../parts/Table.js';
import styles from './Agent.module.css';
import { failureRate, GROUP_FIELDS, groupsQuery, GroupTable, successRate } from './GroupTable.js';

const COLUMNS = RULE_COLUMNS.filter(({ name }) => name !== 'target').map((column) =>
  column.name === 'rule' ? { ...column, render: nameWithTarget(column.render) } : column,
);

/** Marks alerts about all agents: the others in the table are about this agent alone. */
function nameWithTarget(name: (rule: Rule) => ReactNode) {
  return (rule: Rule) => (
    <>
      {name(rule)} {rule.all_agents && <span className={parts['chip']}>All agents</span>}
    </>
  );
}

/** The alerts on an agent with their state. Renders nothing without alerts. */
function AgentAlerts({ agentId }: { readonly agentId: string }) {
  const { data } = useRules();
  useAlertUpdates();
  const items = data?.filter(({ agent_id, all_agents }) => agent_id === agentId || all_agents) ?? [];
  if (items.length === 0) return null;
  return (
    <section className={styles['section']}>
      <h2>Alerts</h2>
      <Table label="Alerts" items={items} columns={COLUMNS} keyOf={({ id }) => id} />
    </section>
  );
}

const PAGE_SIZE = 20;
const FIELDS = GROUP_FIELDS.filter((field) => field !== 'agent');
const STATE = {
  range: rangeField(PAGE_RANGES['/agents/:id'], true),
  by: oneOf(FIELDS, 'model'),
  status: oneOf(['', 'completed', 'failed', 'timed_out', 'running'], ''),
  page: integer(1, 1),
};

/** An agent in a period, compared with the previous one: figures, charts, breakdown and runs. */
export default function Agent({ id }: { readonly id: string }) {
  const [{ range, by, status, page }, change] = useUrlState(STATE);
  const path = { agent_id: id };
  const agent = useQuery({
    queryKey: ['agent', id],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/agents/{agent_id}', { params: { path }, signal })),
  });
  const periods = useQuery({
    ...groupsQuery(range, { group_by: 'agent', agent_id: id }),
    placeholderData: keepPreviousData,
  });
  const series = useSeries(range, { agent_id: id });
  const runs = useQuery({
    queryKey: ['agent-runs', id, range, status, page],
    queryFn: ({ signal }) => {
      const query = {
        ...endsOf(range),
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
        <RangeChoice
          bounded
          label="Period"
          value={range}
          onChange={(value) => {
            change({ range: value, page: 1 });
          }}
        />
      </div>
      {agent.data && periods.data ? (
        <Figures agent={agent.data} periods={periods.data} />
      ) : (
        <TableSkeleton rows={2} />
      )}
      <AgentAlerts agentId={id} />
      {series.data ? (
        <RunCharts
          series={series.data}
          runs={`/runs?agent=${id}`}
          isDetailed
          onBrush={(start, end) => {
            change({ range: rangeBetween(start, end), page: 1 });
          }}
        />
      ) : series.error ? (
        <Failure error={series.error} retry={() => void series.refetch()} />
      ) : (
        <TableSkeleton rows={3} />
      )}
      <GroupTable
        range={range}
        field={by}
        fields={FIELDS}
        agentId={id}
        onField={(field) => {
          change({ by: FIELDS.find((each) => each === field) ?? by }, 'replace');
        }}
      />
      <AgentScores agentId={id} range={range} />
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
        <Link href={`/runs?agent=${id}&kind=all&range=${encodeURIComponent(range)}`}>All filters</Link>
        <Link href={`/users?agent=${id}&range=${encodeURIComponent(range)}`}>Users</Link>
      </div>
      {runs.error && !runs.data ? (
        <Failure error={runs.error} retry={() => void runs.refetch()} />
      ) : runs.data === undefined ? (
        <TableSkeleton rows={6} />
      ) : runs.data.items.length === 0 ? (
        <Empty title="No runs match">
          <p>Widen the time range or show all runs.</p>
        </Empty>
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

/** @param periods the totals of the period and of the previous one */
function Figures({
  agent,
  periods: {
    groups: [group],
    total: now,
    previous_total: before,
  },
}: {
  readonly agent: Schemas['AgentDetail'];
  readonly periods: Schemas['RunGroups'];
}) {
  const worse = new Set(group?.regressions);
  const bad = (regression: Regression): string | undefined =>
    worse.has(regression) ? parts['bad'] : undefined;
  return (
    <dl className={parts['figures']} aria-label="Period">
      <div>
        <dt>Runs</dt>
        <dd>
          <Count value={now.runs} missing="" />
          <small>{formatCount(agent.total_runs)} all time</small>
          <Change now={now.runs} before={before.runs} of={BEFORE} />
        </dd>
      </div>
      <div>
        <dt>Success</dt>
        <dd className={bad('success')}>
          <Percentage value={successRate(now)} missing="No run reports success or failure" />
          <small>of {formatCounted(now.success_count + now.failure_count, 'run')} that report it</small>
          <Change now={successRate(now)} before={successRate(before)} of={BEFORE} isShare />
        </dd>
      </div>
      <div>
        <dt>Failed or timed out</dt>
        <dd className={now.failed > 0 ? parts['bad'] : undefined}>
          <Percentage value={failureRate(now)} missing="No runs in this period" />
          <small>{formatCounted(now.failed, 'run')}</small>
          <Change now={failureRate(now)} before={failureRate(before)} of={BEFORE} isShare />
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>
          <Money value={now.cost} missing="No run has a cost" />
          <small>
            <Money value={agent.total_cost} missing="No run has a cost" /> all time
          </small>
          <Change now={now.cost} before={before.cost} of={BEFORE} />
        </dd>
      </div>
      <div>
        <dt>Cost per run</dt>
        <dd className={bad('cost')}>
          <Money value={now.cost_per_run} missing="No run has a cost" />
          <small>of {formatCounted(now.priced_runs, 'priced run')}</small>
          <Change now={now.cost_per_run} before={before.cost_per_run} of={BEFORE} isBad={worse.has('cost')} />
        </dd>
      </div>
      <div>
        <dt>p95 duration</dt>
        <dd className={bad('duration')}>
          <Duration value={now.p95_ms} missing="No runs ended in this period" />
          <small>
            p50 <Duration value={now.p50_ms} missing="No runs ended in this period" />
          </small>
          <Change now={now.p95_ms} before={before.p95_ms} of={BEFORE} isBad={worse.has('duration')} />
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

type Regression = Schemas['RunGroup']['regressions'][number];

const BEFORE = 'the previous period';
