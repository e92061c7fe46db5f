import styles from './parts.module.css';

/** Placeholder of a loading table, in the height of its rows. */
export function TableSkeleton({ rows = 8 }: { readonly rows?: number }) {
  return (
    <div className={styles['skeleton']} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} className={styles['skeletonRow']} />
      ))}
    </div>
  );
}

/** Placeholder of a loading page. */
export function PageSkeleton() {
  return (
    <div className={styles['page']}>
      <TableSkeleton />
    </div>
  );
}
