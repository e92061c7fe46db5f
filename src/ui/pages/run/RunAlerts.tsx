import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { Firings } from '../alerts/Firings.js';
import { useAlertNews, useFirings } from '../alerts/load.js';

const MOST = 50;

/** Incidents related to a run. */
export function RunAlerts({ traceId }: { readonly traceId: string }) {
  const { data, error, refetch } = useFirings({ trace_id: traceId, page: 1, page_size: MOST });
  useAlertNews();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={3} />;
  if (data.items.length === 0) return <p className={parts['faint']}>No alerts triggered by this run.</p>;
  return (
    <>
      {data.count > MOST && (
        <p className={parts['faint']}>
          Latest {MOST} of {data.count}
        </p>
      )}
      <Firings label="Alerts triggered by this run" firings={data.items} withRule withRuns={false} />
    </>
  );
}
