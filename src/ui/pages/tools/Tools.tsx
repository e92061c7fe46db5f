import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { formatCount, formatPercentage } from '../../format/number.js';
import { contextQuery, CONTEXT_FILTERS } from '../../list/filters.js';
import { LIST_STATE, PagedList } from '../../list/PagedList.js';
import type { Column } from '../../parts/DataTable.js';
import { Count, Duration, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { text } from '../../state/codec.js';
import { runsOfTool } from '../../state/path.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';

type Tool = Schemas['ToolUsage'];

/** Agents of a tool that are listed; the others are counted. */
const MAX_AGENTS = 3;
const STATE = { ...LIST_STATE, agent: text(), range: rangeField(PAGE_RANGES['/tools'], true) };
const FILTERS = { agent: CONTEXT_FILTERS.agent };

const nameOf = ({ tool }: Tool): string => tool;

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
  { name: 'agents', header: 'Agents', isWide: true, render: ({ agents }) => <ByAgent agents={agents} /> },
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
  return (
    <PagedList
      isBounded
      name="tools"
      title="Tools"
      noun={['tool', 'tools']}
      fields={STATE}
      filters={FILTERS}
      columns={COLUMNS}
      keyOf={nameOf}
      hrefOf={({ tool }) => runsOfTool(tool)}
      load={({ agent }, pages, signal) => {
        const query = { ...pages, ...contextQuery({ agent }) };
        return bodyOf(api.GET('/api/v1/dashboard/tools', { params: { query }, signal }));
      }}
      none={{
        title: 'No tool calls in this period',
        text: 'Widen the time range, or send spans of type tool: these count as tool calls.',
      }}
    />
  );
}
