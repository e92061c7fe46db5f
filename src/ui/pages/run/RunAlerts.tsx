import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { Firings } from '../alerts/Firings.js';
import { useAlertUpdates, useFirings } from '../alerts/load.js';

const LIMIT = 50;

/** Incidents related to a run. */
export function RunAlerts({ traceId }: { readonly traceId: string }) {
  const { data, error, refetch } = useFirings({ trace_id: traceId, page: 1, page_size: LIMIT });
  useAlertUpdates();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={3} />;
  if (data.items.length === 0) return <p className={parts['faint']}>No alerts triggered by this run.</p>;
  return (
    <>
      {data.count > LIMIT && (
        <p className={parts['faint']}>
          Latest {LIMIT} of {data.count}
        </p>
      )}
      <Firings label="Alerts triggered by this run" firings={data.items} withRule withRuns={false} />
    </>
  );
}
