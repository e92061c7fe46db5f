import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, bodyOf } from '../../api/client.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatMoney } from '../../format/number.js';
import { DataTable } from '../../parts/DataTable.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { runsOfModel } from '../../state/path.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';
import { text } from '../../state/codec.js';
import { useSeries } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';
import { columns } from './columns.js';
import type { Model } from './usage-columns.js';
import { modelName } from './model-figures.js';
import { timeOf, usePrices, useWhatIf } from './use-what-if.js';
import { swapsField } from './what-if.js';
import { WhatIf } from './WhatIf.js';

const STATE = { range: rangeField(PAGE_RANGES['/models']), what: swapsField, prices: text() };
const PAGE_SIZE = 100;
/** Page limit; the rest is counted only. */
const MAX_PAGES = 5;
/** More lines are hard to distinguish. */
const MAX_LINES = 6;

/** The models called in a period, the most expensive first, with cost per day. */
export default function Models() {
  const [{ range, what, prices: processor }, change] = useUrlState(STATE);
  const models = useModels(range);
  const prices = usePrices(range);
  const estimates = useWhatIf(range, what, processor);
  const priceOf = useMemo(() => {
    if (prices.data === undefined) return undefined;
    const selected = processor === '' ? prices.data[0]?.processor : processor;
    return new Map(prices.data.flatMap((row) => (row.processor === selected ? [[row.model, row]] : [])));
  }, [prices.data, processor]);
  return (
    <div className={parts['page']}>
      <title>Models · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Models</h1>
        <ZoneNote />
        <RangeChoice
          label="Period"
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
        <Empty title="No model calls in this period">
          <p>Widen the time range, or send spans of type llm: these count as model calls.</p>
        </Empty>
      ) : (
        <>
          <DataTable
            label="Models"
            items={models.data.items}
            columns={columns(
              priceOf,
              new Map(estimates.map((each) => [each.swap.model, each])),
              models.data.items.some(({ performance }) => typeof performance?.first_chunk_ms === 'number'),
            )}
            keyOf={({ model }) => JSON.stringify(model)}
            hrefOf={({ model }) => runsOfModel(model)}
          />
          {models.data.items.length < models.data.count && (
            <p className={parts['faint']}>
              Top {models.data.items.length} of {models.data.count} models by cost.
            </p>
          )}
          {prices.error && !prices.data ? (
            <Failure error={prices.error} retry={() => void prices.refetch()} />
          ) : (
            prices.data && (
              <WhatIf
                models={[...new Set(models.data.items.map(({ model }) => model ?? ''))]}
                prices={prices.data}
                swaps={what}
                estimates={estimates}
                processor={processor}
                onSwaps={(swaps) => {
                  change({ what: swaps });
                }}
                onProcessor={(name) => {
                  change({ prices: name });
                }}
              />
            )
          )}
        </>
      )}
    </div>
  );
}

/** Loads all pages. */
function useModels(range: string) {
  return useQuery({
    queryKey: ['models', range],
    queryFn: async ({ signal }) => {
      const items: Model[] = [];
      for (let page = 1; ; page++) {
        const query = { ...timeOf(range), page, page_size: PAGE_SIZE, performance: true };
        const body = await bodyOf(api.GET('/api/v1/dashboard/models', { params: { query }, signal }));
        items.push(...body.items);
        if (!body.has_more || page === MAX_PAGES) return { items, count: body.count };
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
    const lines = costs.slice(0, MAX_LINES).map(({ group }) => ({
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
        title="Cost per UTC day"
        note={`${formatMoney(drawn.total)} total${drawn.left > 0 ? `; ${String(drawn.left)} smaller models hidden` : ''}`}
        times={drawn.times}
        lines={drawn.lines}
        range={[Date.parse(data.start_time), Date.parse(data.end_time)]}
        format={formatMoney}
        missing="No calls have a cost"
      />
    </div>
  );
}
