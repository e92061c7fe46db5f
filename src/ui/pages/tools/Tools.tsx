import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { formatCount, formatPercentage } from '../../format/number.js';
import { arranged } from '../../list/ColumnMenu.js';
import { FilterBar } from '../../list/FilterBar.js';
import { ListFrame, ListPages } from '../../list/ListFrame.js';
import { CONTEXT_FILTERS } from '../../list/run-context.js';
import { PAGE_SIZE, usePages } from '../../list/use-pages.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Duration, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { Empty } from '../../parts/states.js';
import { changeOf, initialOf, integer, text } from '../../state/codec.js';
import { runsOfTool } from '../../state/path.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';
import { endsOf } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';

type Tool = Schemas['ToolUsage'];

const NOUN = ['tool', 'tools'] as const;
/** Agents of a tool that are listed; the others are counted. */
const MAX_AGENTS = 3;
const STATE = {
  agent: text(),
  range: rangeField(PAGE_RANGES['/tools'], true),
  page: integer(1, 1),
  cols: text(),
};
const INITIAL = initialOf(STATE);
const FILTERS = { agent: CONTEXT_FILTERS.agent };

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
  const [state, change] = useUrlState(STATE);
  const { agent, range, page, cols } = state;
  const answer = usePages('tools', [agent, range], page, (pages, signal) =>
    bodyOf(
      api.GET('/api/v1/dashboard/tools', {
        params: { query: { ...pages, ...(agent === '' ? {} : { agent_id: agent }), ...endsOf(range) } },
        ...(signal && { signal }),
      }),
    ),
  );
  const { menu, table } = arranged(COLUMNS, cols, (value) => {
    change({ cols: value }, 'replace');
  });
  return (
    <ListFrame
      title="Tools"
      noun={NOUN}
      count={answer.data?.count}
      columns={menu}
      exported={answer.exported}
      filters={
        <FilterBar
          isBounded
          fields={FILTERS}
          values={state}
          initial={INITIAL}
          range={range}
          onChange={(values) => {
            change({ ...changeOf(STATE, values), page: 1 });
          }}
        />
      }
    >
      <ListPages
        answer={answer}
        noun={NOUN}
        page={page}
        pageSize={PAGE_SIZE}
        onPage={(next) => {
          change({ page: next });
        }}
        empty={
          <Empty title="No tool calls in this period">
            <p>Widen the time range, or send spans of type tool: these count as tool calls.</p>
          </Empty>
        }
      >
        {({ items }) => (
          <DataTable
            label="Tools"
            items={items}
            {...table}
            keyOf={({ tool }) => tool}
            hrefOf={({ tool }) => runsOfTool(tool)}
          />
        )}
      </ListPages>
    </ListFrame>
  );
}
