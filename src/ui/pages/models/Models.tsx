import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatMoney } from '../../format/number.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Money, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { rangeField } from '../../state/range.js';
import { endsOf, useSeries } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';
import { modelName, unpricedFirst } from './model-figures.js';

type Model = Schemas['ModelUsage'];

const STATE = { range: rangeField('30d') };
const PAGE_SIZE = 100;
/** More models than that are said to be there and not shown. */
const MOST_PAGES = 5;
/** More lines than that nobody can tell apart. */
const MOST_LINES = 6;

const COLUMNS: readonly Column<Model>[] = [
  {
    name: 'model',
    header: 'Model',
    isWide: true,
    render: ({ model }) =>
      model === null || model === '' ? modelName(model) : <Link href={runsOf(model)}>{model}</Link>,
  },
  {
    name: 'unpriced',
    header: 'Without cost',
    hint: 'Calls that report no cost and whose model has no price',
    isNumber: true,
    render: ({ calls, priced_calls }) => (
      <span className={priced_calls < calls ? parts['bad'] : undefined}>
        <Count value={Math.max(0, calls - priced_calls)} missing="" />
      </span>
    ),
  },
  {
    name: 'calls',
    header: 'Calls',
    isNumber: true,
    render: ({ calls }) => <Count value={calls} missing="" />,
  },
  {
    name: 'input',
    header: 'Input tokens',
    isNumber: true,
    render: ({ input_tokens }) => <Count value={input_tokens} missing="" />,
  },
  {
    name: 'output',
    header: 'Output tokens',
    isNumber: true,
    render: ({ output_tokens }) => <Count value={output_tokens} missing="" />,
  },
  {
    name: 'cost',
    header: 'Cost',
    isNumber: true,
    render: ({ total_cost }) => (
      <Money value={total_cost} missing="No call has a cost: the model has no price" />
    ),
  },
  {
    name: 'each',
    header: 'Cost a call',
    hint: 'Of the calls that have a cost',
    isNumber: true,
    render: ({ total_cost, priced_calls }) => (
      <Money
        value={total_cost === null || priced_calls === 0 ? null : total_cost / priced_calls}
        missing="No call has a cost"
      />
    ),
  },
  {
    name: 'last',
    header: 'Last call',
    isNumber: true,
    render: ({ last_call_at }) => <Time at={last_call_at} relative />,
  },
];

function runsOf(model: string): string {
  return `/runs?model=${encodeURIComponent(model)}&kind=all`;
}

/** The models that were called, with what they cost by day; those without a price first. */
export default function Models() {
  const [{ range }, change] = useUrlState(STATE);
  const models = useModels(range);
  return (
    <div className={parts['page']}>
      <title>Models · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Models</h1>
        <ZoneNote />
        <RangeChoice
          label="Calls"
          value={range}
          onChange={(value) => {
            change({ range: value });
          }}
        />
      </div>
      <CostByModel range={range} />
      {models.error && !models.data ? (
        <Failure error={models.error} retry={() => void models.refetch()} />
      ) : models.data === undefined ? (
        <TableSkeleton />
      ) : models.data.items.length === 0 ? (
        <Empty title="No model was called">
          <p>Spans of type llm are calls of models. Choose a longer time.</p>
        </Empty>
      ) : (
        <>
          <DataTable
            label="Models"
            items={unpricedFirst(models.data.items)}
            columns={COLUMNS}
            keyOf={({ model }) => JSON.stringify(model)}
            hrefOf={({ model }) => (model === null || model === '' ? '/runs' : runsOf(model))}
          />
          {models.data.items.length < models.data.count && (
            <p className={parts['faint']}>
              The {models.data.items.length} that cost most, of {models.data.count} models.
            </p>
          )}
        </>
      )}
    </div>
  );
}

/** Pages one after the other: what has no price comes last. */
function useModels(range: string) {
  return useQuery({
    queryKey: ['models', range],
    queryFn: async ({ signal }) => {
      const items: Model[] = [];
      for (let page = 1; ; page++) {
        const query = { ...(range === 'all' ? {} : endsOf(range)), page, page_size: PAGE_SIZE };
        const body = await bodyOf(api.GET('/api/v1/dashboard/models', { params: { query }, signal }));
        items.push(...body.items);
        if (!body.has_more || page === MOST_PAGES) return { items, count: body.count };
      }
    },
    placeholderData: keepPreviousData,
  });
}

function CostByModel({ range }: { readonly range: string }) {
  const { data, error, refetch } = useSeries(range, { group_by: 'model', interval: '1d' });
  const drawn = useMemo(() => {
    if (!data) return undefined;
    const times = bucketTimes(data);
    const costs = data.groups
      .map((group) => ({
        group,
        cost: group.buckets.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
      }))
      .filter(({ cost }) => cost > 0)
      .sort((a, b) => b.cost - a.cost);
    const lines = costs.slice(0, MOST_LINES).map(({ group }) => ({
      name: group.key === null ? 'others' : modelName(group.key),
      values: valuesAt(times, group.buckets, ({ cost }) => cost, 0),
    }));
    const total = costs.reduce((sum, { cost }) => sum + cost, 0);
    return { times, lines, total, left: costs.length - lines.length };
  }, [data]);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!drawn || !data) return <TableSkeleton rows={4} />;
  if (drawn.lines.length === 0) return null;
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Cost by UTC day"
        note={`${formatMoney(drawn.total)} in all${drawn.left > 0 ? `; ${String(drawn.left)} cheaper models are not drawn` : ''}`}
        times={drawn.times}
        lines={drawn.lines}
        range={[Date.parse(data.start_time), Date.parse(data.end_time)]}
        format={formatMoney}
        missing="No call has a cost"
      />
    </div>
  );
}
