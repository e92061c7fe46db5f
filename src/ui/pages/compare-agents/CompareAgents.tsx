import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import { TimeChart } from '../../charts/TimeChart.js';
import { DURATION_STEPS } from '../../charts/values.js';
import { formatDuration } from '../../format/duration.js';
import { formatCount, formatMoney } from '../../format/number.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { text } from '../../state/codec.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';
import { useSeries } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';
import { AgentModels } from '../agents/AgentModels.js';
import { ComparedFigures } from './ComparedFigures.js';
import styles from './CompareAgents.module.css';

type Series = Schemas['RunSeriesList'];

const STATE = { a: text(), b: text(), range: rangeField(PAGE_RANGES['/compare/agents']) };

/** Ranges too long for hourly buckets. */
const DAILY: ReadonlySet<string> = new Set(['7d', '30d', '90d']);

/** Two agents over the same period: totals, charts on one axis, models. */
export default function CompareAgents() {
  const [{ a, b, range }, change] = useUrlState(STATE);
  const agents = useQueries({
    queries: [a, b].map((id) => ({
      queryKey: ['agent', id],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        bodyOf(api.GET('/api/v1/agents/{agent_id}', { params: { path: { agent_id: id } }, signal })),
      enabled: id !== '',
    })),
  });
  const interval = DAILY.has(range) ? ('1d' as const) : ('auto' as const);
  const one = useSeries(range, { agent_id: a, interval });
  const other = useSeries(range, { agent_id: b, interval });
  if (a === '' || b === '')
    return (
      <Empty title="Select two agents" isPage>
        <title>Compare agents · Jackdaw</title>
        <p>
          Select two in the list of <Link href="/agents">agents</Link>.
        </p>
      </Empty>
    );
  const error = agents[0]?.error ?? agents[1]?.error ?? one.error ?? other.error;
  if (error) return <Failure isPage error={error} />;
  const names = agents.map(({ data }, at) =>
    data === undefined ? (at === 0 ? 'A' : 'B') : data.name || '(no name)',
  );
  return (
    <div className={parts['page']}>
      <title>Compare agents · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Compare agents</h1>
        <ZoneNote />
        <RangeChoice
          bounded
          label="Period"
          value={range}
          onChange={(value) => {
            change({ range: value });
          }}
        />
      </div>
      {one.data && other.data ? (
        <>
          <ComparedFigures
            ids={[a, b]}
            names={[names[0] ?? '', names[1] ?? '']}
            totals={[one.data.total, other.data.total]}
          />
          <Charts series={[one.data, other.data]} names={names} />
        </>
      ) : (
        <TableSkeleton rows={8} />
      )}
      <div className={styles['models']}>
        {[a, b].map((id, at) => (
          <section key={`${id}${String(at)}`} aria-label={`Models of ${names[at] ?? ''}`}>
            <AgentModels agentId={id} range={range} title={`Models of ${names[at] ?? ''}`} />
          </section>
        ))}
      </div>
    </div>
  );
}

const FIGURES = [
  { title: 'Runs', none: 0, format: formatCount, of: ({ runs }: Schemas['RunBucket']) => runs },
  {
    title: 'Failed or timed out',
    none: 0,
    format: formatCount,
    of: ({ failed }: Schemas['RunBucket']) => failed,
  },
  {
    title: 'p95 duration',
    none: null,
    format: formatDuration,
    steps: DURATION_STEPS,
    of: ({ p95_ms }: Schemas['RunBucket']) => p95_ms,
  },
  { title: 'Cost', none: null, format: formatMoney, of: ({ cost }: Schemas['RunBucket']) => cost },
] as const;

function Charts({
  series: [one, other],
  names,
}: {
  readonly series: readonly [Series, Series];
  readonly names: readonly string[];
}) {
  const [nameA = 'A', nameB = 'B'] = names;
  const drawn = useMemo(() => {
    const times = bucketTimes(one);
    return {
      times,
      figures: FIGURES.map(({ of, none }) => [
        {
          name: nameA,
          values: valuesAt(times, one.groups[0]?.buckets ?? [], of, none),
          tone: 'accent' as const,
        },
        {
          name: nameB,
          values: valuesAt(times, other.groups[0]?.buckets ?? [], of, none),
          tone: 'tool' as const,
        },
      ]),
    };
  }, [one, other, nameA, nameB]);
  return (
    <div className={styles['charts']}>
      {FIGURES.map(({ title, format, ...rest }, at) => (
        <TimeChart
          key={title}
          title={title}
          times={drawn.times}
          lines={drawn.figures[at] ?? []}
          range={[Date.parse(one.start_time), Date.parse(one.end_time)]}
          format={format}
          {...('steps' in rest && { steps: rest.steps })}
          missing="No data in this interval"
        />
      ))}
    </div>
  );
}
