import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf } from '../../api/client.js';
import { formatMeasured } from '../../format/number.js';
import { Time } from '../../parts/figures.js';
import { endsOf } from '../../state/use-series.js';
import styles from './metrics.module.css';
import { pairsOf } from './metrics-state.js';

const MOST_POINTS = 200;
const MOST_SHOWN = 20;

/** Runs in which something was measured, where senders say so. */
export function Exemplars({
  name,
  range,
  labels,
}: {
  readonly name: string;
  readonly range: string;
  readonly labels: string;
}) {
  const { data } = useQuery({
    queryKey: ['exemplars', name, range, labels],
    queryFn: ({ signal }) => {
      const pairs = JSON.stringify(pairsOf(labels));
      const query = { name, ...endsOf(range), labels: pairs, limit: MOST_POINTS, details: true };
      return bodyOf(api.GET('/api/v1/dashboard/metrics/query', { params: { query }, signal }));
    },
  });
  const found = (data?.data_points ?? [])
    .flatMap(({ timestamp, exemplars = [] }) =>
      exemplars.map((each) => ({ ...each, timestamp: each.timestamp ?? timestamp })),
    )
    .filter(({ trace_id }) => trace_id !== null)
    .slice(0, MOST_SHOWN);
  if (found.length === 0) return null;
  return (
    <section className={styles['exemplars']}>
      <h2>Examples among the newest points</h2>
      <ul>
        {found.map(({ timestamp, value, trace_id, span_id }, at) => (
          <li key={at}>
            <Time at={timestamp} />{' '}
            <Link href={`/traces/${trace_id ?? ''}${span_id === null ? '' : `?span=${span_id}`}`}>
              {value === null ? 'Open the run' : `Run with ${formatMeasured(value, data?.unit ?? '')}`}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
