import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf } from '../../api/client.js';
import { Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { endsOf } from '../../state/use-series.js';
import { Card } from './Card.js';
import { formatFound, TYPES } from '../alerts/labels.js';
import styles from './Overview.module.css';

const LIMIT = 5;
const REFRESH_MS = 15_000;

/** Latest incidents with one related run each. */
export function Incidents({ range }: { readonly range: string }) {
  const { data, error } = useQuery({
    queryKey: ['overview-alerts', range],
    queryFn: ({ signal }) => {
      const query = { ...endsOf(range), page: 1, page_size: LIMIT };
      return bodyOf(api.GET('/api/v1/dashboard/alert-events', { params: { query }, signal }));
    },
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card
      title={
        data && data.count > LIMIT
          ? `Incidents: latest ${String(LIMIT)} of ${String(data.count)}`
          : 'Incidents'
      }
      all="/alerts"
      items={data?.items}
      error={error}
      keyOf={({ id }) => id}
      nothing="No incidents in this period."
      render={({ alert_id, type, value, fired_at, resolved_at, target, trace_ids: [explains] }) => (
        <>
          <span>
            <Link href={`/alerts/${alert_id}`}>{TYPES[type]}</Link>
            {value !== null && ` ${formatFound(type, value)}`}
          </span>
          <Time at={fired_at} relative />
          <span className={styles['more']}>
            {target.kind === 'agent' ? <Link href={`/agents/${target.id}`}>{target.name}</Link> : target.name}
            {resolved_at === null && <span className={parts['bad']}> · ongoing</span>}
            {explains !== undefined && (
              <>
                {' · '}
                <Link href={`/traces/${explains}`}>related run</Link>
              </>
            )}
          </span>
        </>
      )}
    />
  );
}
