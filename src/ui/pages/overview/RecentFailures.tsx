import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf } from '../../api/client.js';
import { Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { endsOf } from '../../state/use-series.js';
import { Card } from './Card.js';
import styles from './Overview.module.css';

const LIMIT = 6;
const REFRESH_MS = 10_000;

/** Recently failed runs. */
export function RecentFailures({ range }: { readonly range: string }) {
  const { data, error } = useQuery({
    queryKey: ['overview-failures', range],
    queryFn: ({ signal }) => {
      const query = {
        ...endsOf(range),
        status: 'failed' as const,
        count: 'none' as const,
        page: 1,
        page_size: LIMIT,
      };
      return bodyOf(api.GET('/api/v1/dashboard/traces', { params: { query }, signal }));
    },
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card
      title="Recent failures"
      all={`/runs?status=failed&range=${encodeURIComponent(range)}`}
      items={data?.items}
      error={error}
      keyOf={({ trace_id }) => trace_id}
      nothing="No failed runs in this period."
      render={({ trace_id, agent_name, started_at, error_message, outcome }) => (
        <>
          <Link href={`/traces/${trace_id}`}>{agent_name === '' ? '(no name)' : agent_name}</Link>
          <Time at={started_at} relative />
          <span className={styles['more']}>
            {error_message === null ? outcome : <span className={parts['bad']}>{error_message}</span>}
          </span>
        </>
      )}
    />
  );
}
