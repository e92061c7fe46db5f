import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, bodyOf } from '../../api/client.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { DURATION_STEPS } from '../../charts/values.js';
import { formatDuration } from '../../format/duration.js';
import { formatCounted } from '../../format/number.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';

const DAY_MS = 86_400_000;

/** The p50 and p95 of an agent's run durations. @param days length of the period up to now */
export function AgentDurations({ agentId, days }: { readonly agentId: string; readonly days: number }) {
  const series = useQuery({
    queryKey: ['agent-durations', agentId, days],
    queryFn: ({ signal }) => {
      const start_time = new Date(Date.now() - days * DAY_MS).toISOString();
      return bodyOf(
        api.GET('/api/v1/dashboard/series', {
          params: { query: { agent_id: agentId, start_time } },
          signal,
        }),
      );
    },
    placeholderData: keepPreviousData,
  });
  const drawn = useMemo(() => {
    if (!series.data) return { times: [], lines: [] };
    const times = bucketTimes(series.data);
    const buckets = series.data.groups[0]?.buckets ?? [];
    return {
      times,
      lines: [
        { name: 'p95', values: valuesAt(times, buckets, ({ p95_ms }) => p95_ms, null) },
        {
          name: 'p50',
          values: valuesAt(times, buckets, ({ p50_ms }) => p50_ms, null),
          tone: 'quiet' as const,
        },
      ],
    };
  }, [series.data]);
  if (series.error) return <Failure error={series.error} retry={() => void series.refetch()} />;
  if (!series.data) return <TableSkeleton rows={3} />;
  const { runs } = series.data.total;
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Duration"
        note={`of ${formatCounted(runs, 'run')}`}
        {...drawn}
        range={[Date.parse(series.data.start_time), Date.parse(series.data.end_time)]}
        format={formatDuration}
        steps={DURATION_STEPS}
        missing="No runs ended in this interval"
      />
    </div>
  );
}
