import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { formatCount, formatPercentage } from '../../format/number.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Duration, Time } from '../../parts/figures.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { integer, text } from '../../state/codec.js';
import { runsOfTool } from '../../state/path.js';
import { rangeField } from '../../state/range.js';
import { endsOf } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';

type Tool = Schemas['ToolUsage'];

const PAGE_SIZE = 50;
/** Agents of a tool that are listed; the others are counted. */
const MAX_AGENTS = 3;
const STATE = { agent: text(), range: rangeField('7d', true), page: integer(1, 1) };

const COLUMNS: readonly Column<Tool>[] = [
  {
    name: 'tool',
    header: 'Tool',
    isWide: true,
    render: ({ tool }) => (
      <Link href={runsOfTool(tool)} title={tool}>
        {tool === '' ? '(no name)' : tool}
      </Link>
    ),
  },
  {
    name: 'calls',
    header: 'Calls',
    isNumber: true,
    render: ({ calls }) => <Count value={calls} missing="" />,
  },
  {
    name: 'failed',
    header: 'Failed',
    hint: 'Failed or timed out, with the share of all calls',
    isNumber: true,
    render: ({ failed_calls: failed, calls }) => (
      <span className={failed > 0 ? parts['bad'] : undefined}>
        <Count value={failed} missing="" />
        {failed > 0 && ` (${formatPercentage((100 * failed) / calls)})`}
      </span>
    ),
  },
  {
    name: 'p50',
    header: 'p50',
    hint: 'Median duration',
    isNumber: true,
    render: ({ p50_ms }) => <Duration value={p50_ms} missing="No call has ended" />,
  },
  {
    name: 'p95',
    header: 'p95',
    hint: '95th percentile of durations',
    isNumber: true,
    render: ({ p95_ms }) => <Duration value={p95_ms} missing="No call has ended" />,
  },
  { name: 'agents', header: 'Agents', isCut: true, render: ({ agents }) => <ByAgent agents={agents} /> },
  {
    name: 'last',
    header: 'Last call',
    isNumber: true,
    render: ({ last_call_at }) => <Time at={last_call_at} relative />,
  },
];

function ByAgent({ agents }: Pick<Tool, 'agents'>) {
  const words = agents.map(
    ({ name, calls, failed_calls: failed }) =>
      `${name || '(no name)'}: ${formatCount(calls)} calls, ${formatCount(failed)} failed`,
  );
  return (
    <span title={words.join('\n')}>
      {agents.slice(0, MAX_AGENTS).map(({ id, name, calls }, at) => (
        <span key={id}>
          {at > 0 && ', '}
          <Link href={`/tools?agent=${id}`}>{name === '' ? '(no name)' : name}</Link>{' '}
          <small>{formatCount(calls)}</small>
        </span>
      ))}
      {agents.length > MAX_AGENTS && `, ${String(agents.length - MAX_AGENTS)} more`}
    </span>
  );
}

/** The tools called in a period, with failures and durations, optionally of one agent. */
export default function Tools() {
  const [{ agent, range, page }, change] = useUrlState(STATE);
  const { data, error, refetch } = useQuery({
    queryKey: ['tools', agent, range, page],
    queryFn: ({ signal }) => {
      const query = {
        page,
        page_size: PAGE_SIZE,
        ...(agent === '' ? {} : { agent_id: agent }),
        ...endsOf(range),
      };
      return bodyOf(api.GET('/api/v1/dashboard/tools', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  const agentName = data?.items.flatMap(({ agents }) => agents).find(({ id }) => id === agent)?.name;
  return (
    <div className={parts['page']}>
      <title>Tools · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Tools</h1>
        <ZoneNote />
      </div>
      <div className={parts['filters']} role="group" aria-label="Filters">
        <RangeChoice
          bounded
          label="Period"
          value={range}
          onChange={(value) => {
            change({ range: value, page: 1 });
          }}
        />
        {agent !== '' && (
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              change({ agent: '', page: 1 });
            }}
          >
            Agent: {agentName ?? agent} <X size={14} aria-hidden="true" />
            <span className={parts['unseen']}>remove</span>
          </button>
        )}
      </div>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton />
      ) : data.items.length === 0 ? (
        <Empty title="No tool calls in this period">
          <p>Widen the time range, or send spans of type tool: these count as tool calls.</p>
        </Empty>
      ) : (
        <>
          <DataTable
            label="Tools"
            items={data.items}
            columns={COLUMNS}
            keyOf={({ tool }) => tool}
            hrefOf={({ tool }) => runsOfTool(tool)}
          />
          <Pager
            page={page}
            pageSize={PAGE_SIZE}
            count={data.count}
            hasMore={data.has_more}
            noun={data.count === 1 ? 'tool' : 'tools'}
            onChange={(next) => {
              change({ page: next });
            }}
          />
        </>
      )}
    </div>
  );
}
