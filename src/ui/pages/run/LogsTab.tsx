import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../../api/client.js';
import { formatClock } from '../../format/time.js';
import { formatCounted } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { useSettings } from '../../state/settings.js';
import styles from './run.module.css';

const LIMIT = 500;
const BAD = new Set(['ERROR', 'FATAL', 'CRITICAL']);

/** Log records of the span or of the whole run. */
export function LogsTab({ traceId, spanId }: { readonly traceId: string; readonly spanId: string }) {
  const { zone } = useSettings();
  const [ofRun, setOfRun] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['run-logs', traceId],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/logs/search', {
          params: { query: { trace_id: traceId, limit: LIMIT, offset: 0, details: false } },
          signal,
        }),
      ),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={4} />;
  const shown = data.items.filter((record) => ofRun || record.span_id === spanId).reverse();
  return (
    <div className={styles['stack']}>
      <label className={parts['label']}>
        <input
          type="checkbox"
          checked={ofRun}
          onChange={(event) => {
            setOfRun(event.target.checked);
          }}
        />
        All records of the run ({formatCounted(data.count, 'record')}
        {data.count > LIMIT && `, latest ${String(LIMIT)} shown`})
      </label>
      {shown.length === 0 ? (
        <p className={parts['faint']}>No log records for {ofRun ? 'this run' : 'this span'}.</p>
      ) : (
        <ol className={styles['logs']}>
          {shown.map((record) => (
            <li key={record.id}>
              <span className={parts['faint']}>{formatClock(Date.parse(record.timestamp), zone)}</span>
              <span
                className={cx(styles['severity'], BAD.has(record.severity.toUpperCase()) && parts['bad'])}
              >
                {record.severity}
              </span>
              <span className={styles['logBody']}>{record.body}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
