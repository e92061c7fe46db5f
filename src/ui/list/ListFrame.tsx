import { useRef, type ReactNode } from 'react';
import { formatExact } from '../format/number.js';
import { cx } from '../parts/cx.js';
import parts from '../parts/parts.module.css';
import { ZoneNote } from '../parts/ZoneNote.js';
import { useShortcuts } from '../state/shortcuts.js';
import { useDebounced } from '../state/use-debounced.js';
import { Export, type Exported } from './Export.js';
import { Views } from './Views.js';
import styles from './list.module.css';

/** One and several of what a list has. */
export type Noun = readonly [one: string, several: string];

interface Search {
  /** Accessible name. */
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/**
 * The frame of a list page: title with the number of matches, search, saved views, columns, export and filters.
 *
 * @param count of matches; null if it is not counted, undefined while it loads
 */
export function ListFrame({
  title,
  noun: [one, several],
  count,
  isAtLeast = false,
  search,
  columns,
  exported,
  tools,
  filters,
  children,
}: {
  readonly title: string;
  readonly noun: Noun;
  readonly count: number | null | undefined;
  /** Whether there may be more than were counted. */
  readonly isAtLeast?: boolean;
  readonly search?: Search;
  /** A {@link ColumnMenu}. */
  readonly columns?: ReactNode;
  readonly exported?: Exported;
  /** Shown after the title. */
  readonly tools?: ReactNode;
  readonly filters: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className={parts['page']}>
      <title>{`${title} · Jackdaw`}</title>
      <div className={parts['head']}>
        <div className={styles['title']}>
          <h1>{title}</h1>
          <span role="status">
            {typeof count === 'number' &&
              `${formatExact(count)}${isAtLeast ? '+' : ''} ${count === 1 && !isAtLeast ? one : several}`}
          </span>
        </div>
        {tools}
        <ZoneNote />
        {search && <SearchField {...search} />}
        <Views />
        {columns}
        {exported && <Export exported={exported} />}
      </div>
      {filters}
      {children}
    </div>
  );
}

/** A search that starts after a pause in typing; the key `/` focuses it. */
function SearchField({ label, placeholder, value, onChange }: Search) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useDebounced(value, onChange);
  useShortcuts({ '/': () => field.current?.focus() });
  return (
    <input
      ref={field}
      type="search"
      className={cx(parts['field'], styles['search'])}
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      onChange={(event) => {
        setTyped(event.target.value);
      }}
    />
  );
}

/** Actions for selected rows, below the list, so that no row moves. */
export function SelectionBar({
  count,
  onNone,
  children,
}: {
  readonly count: number;
  readonly onNone: () => void;
  readonly children: ReactNode;
}) {
  if (count === 0) return null;
  return (
    <p className={styles['selection']} role="status">
      {formatExact(count)} selected
      {children}
      <button type="button" className={parts['button']} onClick={onNone}>
        Clear
      </button>
    </p>
  );
}
