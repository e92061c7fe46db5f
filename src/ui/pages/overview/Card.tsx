import { useId, type ReactNode } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../../api/client.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import styles from './Overview.module.css';

interface Props<Item> {
  readonly title: string;
  /** Link to the complete list. */
  readonly all?: string;
  readonly items: readonly Item[] | undefined;
  readonly error: Error | null;
  readonly keyOf: (item: Item) => string;
  readonly nothing: string;
  readonly render: (item: Item) => ReactNode;
}

/** The first items of a list with its own page. */
export function Card<Item>({ title, all, items, error, keyOf, nothing, render }: Props<Item>) {
  const id = useId();
  const reason = error instanceof ApiError ? error.message : 'The daemon did not respond.';
  return (
    <section className={styles['card']} aria-labelledby={id}>
      <h2>
        <span id={id}>{title}</span>
        {all !== undefined && (
          <Link href={all} aria-label={`All: ${title}`}>
            All
          </Link>
        )}
      </h2>
      {items === undefined ? (
        error ? (
          <p className={styles['nothing']} role="alert">
            Loading failed. {reason}
          </p>
        ) : (
          <TableSkeleton rows={3} />
        )
      ) : items.length === 0 ? (
        <p className={styles['nothing']}>{nothing}</p>
      ) : (
        <ul>
          {items.map((item) => (
            <li key={keyOf(item)}>{render(item)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}
