import styles from './parts.module.css';

/** A dash for a value that is not there, with the reason for whoever points at it or has it read. */
export function Missing({ reason }: { readonly reason: string }) {
  return (
    <span className={styles['missing']} title={reason}>
      <span aria-hidden="true">–</span>
      <span className={styles['unseen']}>{reason}</span>
    </span>
  );
}
