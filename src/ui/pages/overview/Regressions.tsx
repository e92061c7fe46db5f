import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf } from '../../api/client.js';
import { formatCount, formatMoney, formatPercentage } from '../../format/number.js';
import parts from '../../parts/parts.module.css';
import { endsOf } from '../../state/use-series.js';
import { Card } from './Card.js';
import { figuresByAgent, regressionsOf } from './regressions.js';
import styles from './Overview.module.css';

const LIMIT = 5;

/** Agents that fail more often or cost more per run than in the previous period. */
export function Regressions({ range }: { readonly range: string }) {
  const { data, error } = useQuery({
    queryKey: ['overview-worse', range],
    queryFn: async ({ signal }) => {
      const { start_time, end_time } = endsOf(range);
      const length = Date.parse(end_time) - Date.parse(start_time);
      const earlier = {
        start_time: new Date(Date.parse(start_time) - length).toISOString(),
        end_time: start_time,
      };
      const [now, before] = await Promise.all(
        [{ start_time, end_time }, earlier].map((ends) =>
          bodyOf(
            api.GET('/api/v1/dashboard/series', {
              params: { query: { ...ends, group_by: 'agent' } },
              signal,
            }),
          ),
        ),
      );
      return regressionsOf(figuresByAgent(now?.groups ?? []), figuresByAgent(before?.groups ?? []));
    },
  });
  return (
    <Card
      title="Regressions"
      all="/agents"
      items={data?.slice(0, LIMIT)}
      error={error}
      keyOf={({ now }) => now.id}
      nothing="No regressions vs previous period."
      render={({ now, before, failures, cost }) => (
        <>
          <Link href={`/agents/${now.id}`}>{now.name === '' ? '(no name)' : now.name}</Link>
          <span>
            {formatCount(now.runs)} runs, {formatCount(before.runs)} before
          </span>
          <span className={styles['more']}>
            {failures && (
              <span className={parts['bad']}>
                {formatPercentage(100 * failures.now)} failed, {formatPercentage(100 * failures.before)}{' '}
                before
              </span>
            )}
            {failures && cost && ' · '}
            {cost &&
              `${formatMoney(cost.now)} per ${now.priced < now.runs ? 'priced ' : ''}run, ${formatMoney(cost.before)} before`}
          </span>
        </>
      )}
    />
  );
}
