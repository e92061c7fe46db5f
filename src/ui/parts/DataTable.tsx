import { ArrowDown, ArrowUp } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useShortcuts } from '../state/shortcuts.js';
import { cx } from './cx.js';
import styles from './parts.module.css';

export interface Column<Item> {
  readonly name: string;
  readonly header: string;
  /** What the figures say, in full. */
  readonly hint?: string;
  readonly isNumber?: boolean;
  /** Takes the room that is left, and is cut where there is none. */
  readonly isWide?: boolean;
  readonly render: (item: Item) => ReactNode;
}

interface Props<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  readonly hrefOf: (item: Item) => string;
  /** Only of a list that the server orders. */
  readonly sort?: {
    readonly by: string;
    readonly columns: readonly string[];
    readonly onChange: (by: string) => void;
  };
}

/** Rows of which each is a page: J and K walk, Enter opens. The first column has the link. */
export function DataTable<Item>({ label, items, columns, keyOf, hrefOf, sort }: Props<Item>) {
  const [, navigate] = useLocation();
  const [current, setCurrent] = useState<string>();
  const table = useRef<HTMLTableElement>(null);
  const at = items.findIndex((item) => keyOf(item) === current);
  const step = (by: number) => (): void => {
    const next =
      items[Math.min(items.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : items.length - 1) : at + by))];
    if (next !== undefined) setCurrent(keyOf(next));
  };
  useShortcuts({ j: step(1), k: step(-1) });
  useEffect(() => {
    if (current === undefined) return;
    const row = table.current?.querySelector<HTMLElement>('tr[data-current="true"]');
    row?.scrollIntoView({ block: 'nearest' });
    row?.querySelector('a')?.focus({ preventScroll: true });
  }, [current]);
  return (
    <div className={styles['tableWrap']}>
      <table ref={table} className={styles['table']} aria-label={label}>
        <thead>
          <tr>
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
                // Whoever selects text, or clicks a link, means that.
                const isOther = (event.target as HTMLElement).closest('a, button, input') !== null;
                if (!isOther && getSelection()?.isCollapsed !== false) navigate(hrefOf(item));
              }}
            >
              {columns.map((column) => (
                <td
                  key={column.name}
                  className={cx(column.isNumber && styles['number'], column.isWide && styles['wide'])}
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
  const turn = (): void => {
    sort.onChange(isDescending ? name : `-${name}`);
  };
  return (
    <th
      scope="col"
      className={className}
      title={hint}
      aria-sort={isAscending ? 'ascending' : isDescending ? 'descending' : 'none'}
    >
      <button type="button" className={styles['sortButton']} onClick={turn}>
        {header} {isAscending && <ArrowUp size={12} aria-hidden="true" />}
        {isDescending && <ArrowDown size={12} aria-hidden="true" />}
      </button>
    </th>
  );
}
