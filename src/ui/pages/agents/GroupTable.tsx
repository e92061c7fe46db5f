import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import type { operations } from '../../api/generated/schema.js';
import { formatCount } from '../../format/number.js';
import { Change } from '../../parts/Change.js';
import { Choice } from '../../parts/Choice.js';
import type { Column } from '../../parts/DataTable.js';
import { Count, Duration, Money, Percentage } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { Table } from '../../parts/Table.js';
import { endsOf } from '../../state/use-series.js';
import styles from './Agent.module.css';

type Group = Schemas['RunGroup'];
type Query = operations['readRunGroups']['parameters']['query'];
export type GroupField = Query['group_by'];

/** Fields with their labels. */
const FIELDS: Readonly<Record<GroupField, string>> = {
  agent: 'Agent',
  model: 'Model',
  user: 'User',
  tag: 'Tag',
  environment: 'Environment',
  release: 'Release',
  agent_version: 'Agent version',
  repository: 'Repository',
  prompt_version: 'Prompt version',
};
export const GROUP_FIELDS = Object.keys(FIELDS) as GroupField[];

/** The filter of the list of runs that selects a group. */
const FILTERS: Readonly<Record<Exclude<GroupField, 'agent' | 'prompt_version'>, string>> = {
  model: 'model',
  user: 'user',
  tag: 'tag',
  environment: 'env',
  release: 'release',
  agent_version: 'version',
  repository: 'repo',
};

const LIMIT = 10;

/** Groups of a range with those of the previous one. */
export function groupsQuery(range: string, ask: Omit<Query, 'start_time' | 'end_time'>) {
  return queryOptions({
    queryKey: ['groups', range, ask],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/groups', { params: { query: { ...endsOf(range), ...ask } }, signal }),
      ),
  });
}

/** A value with its change since the previous period below, if there is one to compare with. */
export function Compared({
  now,
  before,
  isWorse = false,
  isShare,
  children,
}: {
  readonly now: number | null;
  readonly before: number | null;
  /** Whether it clearly got worse. */
  readonly isWorse?: boolean;
  readonly isShare?: boolean;
  readonly children: ReactNode;
}) {
  // Nothing can be said relative to zero.
  const isComparable = now !== null && before !== null && (isShare || before !== 0);
  return (
    <span className={styles['compared']}>
      <span className={isWorse ? parts['bad'] : undefined}>{children}</span>
      {isComparable && <Change now={now} before={before} isShare={isShare} />}
    </span>
  );
}

/** Failed runs in percent; null without runs. */
export function failureRate({
  failed,
  runs,
}: Pick<Schemas['PeriodTotals'], 'failed' | 'runs'>): number | null {
  return runs === 0 ? null : (100 * failed) / runs;
}

/** A group, or the sum of the groups that are not listed. */
type Row = Pick<Group, 'total' | 'previous_total' | 'regressions'> & {
  readonly id: string;
  readonly label: ReactNode;
};

function columns(field: GroupField): readonly Column<Row>[] {
  const noun = field === 'model' ? 'call' : 'run';
  return [
    { name: 'group', header: FIELDS[field], isWide: true, render: ({ label }) => label },
    {
      name: 'cost',
      header: 'Cost',
      isNumber: true,
      render: ({ total, previous_total: before }) => (
        <Compared now={total.cost} before={before.cost}>
          <Money value={total.cost} missing={`No ${noun} has a cost`} />
        </Compared>
      ),
    },
    {
      name: 'each',
      header: `Cost per ${noun}`,
      isNumber: true,
      render: ({ total, previous_total: before, regressions }) => (
        <Compared
          now={total.cost_per_run}
          before={before.cost_per_run}
          isWorse={regressions.includes('cost')}
        >
          <Money value={total.cost_per_run} missing={`No ${noun} has a cost`} />
        </Compared>
      ),
    },
    {
      name: 'runs',
      header: field === 'model' ? 'Calls' : 'Runs',
      isNumber: true,
      render: ({ total, previous_total: before }) => (
        <Compared now={total.runs} before={before.runs}>
          <Count value={total.runs} missing="" />
        </Compared>
      ),
    },
    {
      name: 'failed',
      header: 'Failed',
      isNumber: true,
      render: ({ total, previous_total: before, regressions }) => (
        <Compared
          now={failureRate(total)}
          before={failureRate(before)}
          isWorse={regressions.includes('failures')}
          isShare
        >
          <Percentage value={failureRate(total)} missing={`No ${noun}s in this period`} />
        </Compared>
      ),
    },
    ...(field === 'model' ? [] : [SUCCESS]),
    {
      name: 'p95',
      header: 'p95',
      hint: '95th percentile of durations',
      isNumber: true,
      render: ({ id, total, previous_total: before, regressions }) => (
        <Compared now={total.p95_ms} before={before.p95_ms} isWorse={regressions.includes('duration')}>
          <Duration
            value={total.p95_ms}
            missing={id === OTHERS ? 'Not known for several groups' : `No ${noun}s ended in this period`}
          />
        </Compared>
      ),
    },
    {
      name: 'tokens',
      header: 'Tokens',
      isNumber: true,
      render: ({ total, previous_total: before }) => (
        <Compared now={total.tokens} before={before.tokens}>
          <Count value={total.tokens} missing={`No ${noun} reports tokens`} />
        </Compared>
      ),
    },
  ];
}

const OTHERS = 'others';

const SUCCESS: Column<Row> = {
  name: 'success',
  header: 'Success',
  hint: 'Share of the runs that report success or failure',
  isNumber: true,
  render: ({ total, previous_total: before, regressions }) => (
    <Compared
      now={successRate(total)}
      before={successRate(before)}
      isWorse={regressions.includes('success')}
      isShare
    >
      <Percentage value={successRate(total)} missing="No run reports success or failure" />
    </Compared>
  ),
};

/** Successful runs in percent of those that report it; null if none does. */
export function successRate({
  success_count,
  failure_count,
}: Pick<Schemas['PeriodTotals'], 'success_count' | 'failure_count'>): number | null {
  const signals = success_count + failure_count;
  return signals === 0 ? null : (100 * success_count) / signals;
}

/** Cost, failures and durations of runs by a selected field, compared with the previous period. */
export function GroupTable({
  range,
  field,
  fields = GROUP_FIELDS,
  agentId,
  onField,
}: {
  readonly range: string;
  readonly field: GroupField;
  readonly fields?: readonly GroupField[];
  /** Only runs of this agent. */
  readonly agentId?: string;
  readonly onField: (field: GroupField) => void;
}) {
  const ask = { group_by: field, limit: LIMIT, ...(agentId === undefined ? {} : { agent_id: agentId }) };
  const { data, error, refetch } = useQuery({
    ...groupsQuery(range, ask),
    placeholderData: keepPreviousData,
  });
  // While another field loads, the table still shows the previous one.
  const shown = data?.group_by ?? field;
  const rows: Row[] = (data?.groups ?? []).map((group) => ({
    ...group,
    id: JSON.stringify([group.name, group.key]),
    label: <GroupName group={group} field={shown} agentId={agentId} range={range} />,
  }));
  if (data?.others)
    rows.push({
      ...data.others,
      id: OTHERS,
      regressions: [],
      label: `${formatCount(data.count - data.groups.length)} others`,
    });
  return (
    <section className={styles['section']} aria-label="Breakdown">
      <div className={parts['head']}>
        <h2>Breakdown</h2>
        <Choice
          label="Group by"
          value={field}
          options={Object.fromEntries(fields.map((each) => [each, FIELDS[each]]))}
          onChange={(value) => {
            onField(fields.find((each) => each === value) ?? field);
          }}
        />
        <span className={parts['faint']}>Changes are relative to the previous period of equal length.</span>
      </div>
      {data === undefined ? (
        error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : (
          <TableSkeleton rows={4} />
        )
      ) : rows.length === 0 ? (
        <Empty title={shown === 'prompt_version' ? 'No run used a prompt' : 'No runs in this period'} />
      ) : (
        <Table
          label={`By ${FIELDS[shown].toLowerCase()}`}
          items={rows}
          columns={columns(shown)}
          keyOf={({ id }) => id}
        />
      )}
    </section>
  );
}

/** The name of a group, linked to its runs in the range. */
function GroupName({
  group: { key, name },
  field,
  agentId,
  range,
}: {
  readonly group: Group;
  readonly field: GroupField;
  readonly agentId: string | undefined;
  readonly range: string;
}) {
  if (key === null) return <span className={parts['faint']}>no {FIELDS[field].toLowerCase()}</span>;
  const time = { range };
  if (field === 'agent')
    return (
      <Link href={`/agents/${key}?${String(new URLSearchParams(time))}`}>
        {name === '' ? '(no name)' : name}
      </Link>
    );
  const selected = field === 'prompt_version' ? { prompt: name ?? '', pv: key } : { [FILTERS[field]]: key };
  const query = new URLSearchParams({
    ...(agentId === undefined ? {} : { agent: agentId }),
    ...selected,
    ...time,
  });
  return (
    <Link href={`/runs?${String(query)}`} title={key}>
      {field === 'prompt_version' ? `${name ?? ''} v${key}` : key}
    </Link>
  );
}
