import { ArrowDown, ArrowUp } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useShortcuts } from '../state/shortcuts.js';
import { cx } from './cx.js';
import styles from './parts.module.css';

export interface Column<Item> {
  readonly name: string;
  readonly header: string;
  /** Full description of the column. */
  readonly hint?: string;
  readonly isNumber?: boolean;
  /** Needs its header as a label in the narrow layout, such as a time. */
  readonly isNamed?: boolean;
  /** Takes the remaining width and is truncated if needed. */
  readonly isWide?: boolean;
  /** Has a limited width and is truncated. */
  readonly isCut?: boolean;
  readonly render: (item: Item) => ReactNode;
}

interface Props<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  readonly hrefOf: (item: Item) => string;
  /** Selected rows by key; X or the checkbox toggles. */
  readonly selection?: {
    readonly keys: ReadonlySet<string>;
    readonly nameOf: (item: Item) => string;
    readonly onToggle: (key: string) => void;
  };
  /** Space, or a click next to links, previews a row. */
  readonly onPreview?: (item: Item) => void;
  /** For lists sorted by the server. */
  readonly sort?: {
    readonly by: string;
    readonly columns: readonly string[];
    readonly onChange: (by: string) => void;
  };
}

/** The label of a value in the narrow layout; names and words need none. */
export function labelOf({ isNumber, isNamed, header }: Column<never>): string | undefined {
  return isNumber || isNamed ? header : undefined;
}

/** A table whose rows are links: J and K move, Enter opens. The first column contains the link. */
export function DataTable<Item>(props: Props<Item>) {
  const { label, items, columns, keyOf, hrefOf, selection, onPreview, sort } = props;
  const [, navigate] = useLocation();
  const [current, setCurrent] = useState<string>();
  const table = useRef<HTMLTableElement>(null);
  const at = items.findIndex((item) => keyOf(item) === current);
  const step = (by: number) => (): void => {
    const next =
      items[Math.min(items.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : items.length - 1) : at + by))];
    if (next !== undefined) setCurrent(keyOf(next));
  };
  const here = items[at];
  useShortcuts({
    j: step(1),
    k: step(-1),
    ...(selection &&
      here && {
        x: () => {
          selection.onToggle(keyOf(here));
        },
      }),
    ...(onPreview &&
      here && {
        ' ': () => {
          onPreview(here);
        },
      }),
  });
  useEffect(() => {
    if (current === undefined) return;
    const row = table.current?.querySelector<HTMLElement>('tr[data-current="true"]');
    row?.scrollIntoView({ block: 'nearest' });
    row?.querySelector('a')?.focus({ preventScroll: true });
  }, [current]);
  return (
    <div className={cx(styles['tableWrap'], styles['stacking'])}>
      <table ref={table} className={styles['table']} aria-label={label}>
        <thead>
          <tr>
            {selection && (
              <th scope="col">
                <span className={styles['unseen']}>Selected</span>
              </th>
            )}
            {columns.map((column) => (
              <Header key={column.name} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr
              key={keyOf(item)}
              data-current={keyOf(item) === current}
              onClick={(event) => {
                // Selecting text or clicking a link is not a click on the row.
                const isOther =
                  (event.target as HTMLElement).closest('a, button, input, label, [data-missing]') !== null;
                if (isOther || getSelection()?.isCollapsed === false) return;
                if (onPreview) {
                  setCurrent(keyOf(item));
                  onPreview(item);
                } else navigate(hrefOf(item));
              }}
            >
              {selection && (
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Select ${selection.nameOf(item)}`}
                    checked={selection.keys.has(keyOf(item))}
                    onChange={() => {
                      selection.onToggle(keyOf(item));
                    }}
                  />
                </td>
              )}
              {columns.map((column) => (
                <td
                  key={column.name}
                  data-label={labelOf(column)}
                  className={cx(
                    column.isNumber && styles['number'],
                    column.isWide && styles['wide'],
                    column.isCut && styles['cut'],
                  )}
                >
                  {column.render(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Header<Item>({
  column,
  sort,
}: {
  readonly column: Column<Item>;
  readonly sort: Props<Item>['sort'];
}) {
  const { name, header, hint, isNumber } = column;
  const isAscending = sort?.by === name;
  const isDescending = sort?.by === `-${name}`;
  const className = isNumber ? styles['number'] : undefined;
  if (!sort?.columns.includes(name))
    return (
      <th scope="col" className={className} title={hint}>
        {header}
      </th>
    );
  const toggle = (): void => {
    sort.onChange(isDescending ? name : `-${name}`);
  };
  return (
    <th
      scope="col"
      className={className}
      title={hint}
      aria-sort={isAscending ? 'ascending' : isDescending ? 'descending' : 'none'}
    >
      <button type="button" className={styles['sortButton']} onClick={toggle}>
        {header} {isAscending && <ArrowUp size={12} aria-hidden="true" />}
        {isDescending && <ArrowDown size={12} aria-hidden="true" />}
      </button>
    </th>
  );
}
