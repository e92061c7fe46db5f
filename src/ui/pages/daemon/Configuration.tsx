import { useQuery } from '@tanstack/react-query';
import { readText } from '../../api/client.js';
import { CopyButton } from '../../parts/CopyButton.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import styles from './daemon.module.css';

/** The configuration as it holds, to read and to copy. */
export function Configuration() {
  const { data, error, refetch } = useQuery({
    queryKey: ['daemon config'],
    queryFn: ({ signal }) => readText('daemon/config', signal),
    // It does not change while the daemon runs, which another one may since.
    refetchOnMount: 'always',
  });
  if (data === undefined)
    return error ? <Failure error={error} retry={() => void refetch()} /> : <TableSkeleton />;
  return (
    <section aria-label="Configuration">
      <div className={parts['filters']}>
        <CopyButton label="Copy" text={() => data} />
        <span className={parts['faint']}>
          As it holds, with defaults. What came from the environment or a file is named only, and secrets are
          left out. It is changed in its files, and read at the next start.
        </span>
      </div>
      <pre tabIndex={0} aria-label="Configuration as YAML" role="region" className={styles['yaml']}>
        {data}
      </pre>
    </section>
  );
}
