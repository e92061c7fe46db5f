import styles from './parts.module.css';

/** Room for a table that is on its way, in the height of its rows. */
export function TableSkeleton({ rows = 8 }: { readonly rows?: number }) {
  return (
    <div className={styles['skeleton']} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} className={styles['skeletonRow']} />
      ))}
    </div>
  );
}

/** Room for a page whose code is on its way. */
export function PageSkeleton() {
  return (
    <div className={styles['page']}>
      <TableSkeleton />
    </div>
  );
}
