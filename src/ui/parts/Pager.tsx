import { ChevronLeft, ChevronRight } from 'lucide-react';
import { formatExact } from '../format/number.js';
import { cx } from './cx.js';
import styles from './parts.module.css';

interface Props {
  readonly page: number;
  readonly pageSize: number;
  /** Null if not counted. */
  readonly count: number | null;
  readonly hasMore: boolean;
  readonly noun: string;
  readonly onChange: (page: number) => void;
}

/** The position in a list, with previous and next page. */
export function Pager({ page, pageSize, count, hasMore, noun, onChange }: Props) {
  const first = Math.min(count ?? Infinity, (page - 1) * pageSize + 1);
  const last = Math.min(count ?? Infinity, page * pageSize);
  const button = cx(styles['button'], styles['iconButton']);
  return (
    <div className={styles['pager']}>
      <span>
        {formatExact(first)}–{formatExact(last)}
        {count !== null && ` of ${formatExact(count)}`} {noun}
      </span>
      <button
        type="button"
        className={button}
        aria-label="Previous page"
        disabled={page <= 1}
        onClick={() => {
          onChange(page - 1);
        }}
      >
        <ChevronLeft size={16} aria-hidden="true" />
      </button>
      <button
        type="button"
        className={button}
        aria-label="Next page"
        disabled={!hasMore}
        onClick={() => {
          onChange(page + 1);
        }}
      >
        <ChevronRight size={16} aria-hidden="true" />
      </button>
    </div>
  );
}
