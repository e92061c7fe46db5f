import { ArrowDown, ArrowUp } from 'lucide-react';
import {
  useEffect,
  useRef,
  useState,
  type CSSProperties,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
} from 'react';
import { useLocation } from 'wouter';
import { useShortcuts } from '../state/shortcuts.js';
import { MAX_WIDTH, MIN_WIDTH } from './columns.js';
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
  /** In a list whose columns can be selected: shown only on request. */
  readonly isExtra?: boolean;
  /** Not shown if the list is narrow. */
  readonly isMinor?: boolean;
  /** Shown only if the list is very wide, or if its rows are stacked. */
  readonly isSpare?: boolean;
  /** Set by the user, in pixels. */
  readonly width?: number;
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
    /** Selects or clears all rows; without it there is no checkbox for all. */
    readonly onAll?: (keys: readonly string[], isSelected: boolean) => void;
  };
  /** Called with the width of a column that the user dragged, in pixels. */
  readonly onResize?: (name: string, width: number) => void;
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

export function headClassOf({ isNumber, isMinor, isSpare, width }: Column<never>): string {
  return cx(
    isNumber && styles['number'],
    isMinor && styles['minor'],
    isSpare && styles['spare'],
    width !== undefined && styles['sized'],
  );
}

export function cellClassOf(column: Column<never>): string {
  const { isWide, isCut, width } = column;
  const isSized = width !== undefined;
  return cx(headClassOf(column), isWide && !isSized && styles['wide'], isCut && !isSized && styles['cut']);
}

function sizeOf(width: number | undefined): CSSProperties | undefined {
  return width === undefined ? undefined : ({ '--column': `${String(width)}px` } as CSSProperties);
}

/** Whether a click in a row is meant for the row, not for a link in it and not to select text. */
export function isRowClick({ target }: MouseEvent): boolean {
  const isOther = (target as HTMLElement).closest('a, button, input, label, [data-missing]') !== null;
  return !isOther && getSelection()?.isCollapsed !== false;
}

/** A table whose rows are links: J and K move, Enter opens. The first column contains the link. */
export function DataTable<Item>(props: Props<Item>) {
  const { label, items, keyOf, hrefOf, selection, onPreview, onResize, sort } = props;
  const [dragged, setDragged] = useState<Dragged>();
  const columns = props.columns.map((column) =>
    column.name === dragged?.name ? { ...column, width: dragged.width } : column,
  );
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
                {selection.onAll ? (
                  <SelectAll keys={items.map(keyOf)} selected={selection.keys} onAll={selection.onAll} />
                ) : (
                  <span className={styles['unseen']}>Selected</span>
                )}
              </th>
            )}
            {columns.map((column) => (
              <Header key={column.name} column={column} sort={sort}>
                {onResize && <Grip name={column.name} onDrag={setDragged} onDrop={onResize} />}
              </Header>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr
              key={keyOf(item)}
              data-current={keyOf(item) === current}
              onClick={(event) => {
                if (!isRowClick(event)) return;
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
                  className={cellClassOf(column)}
                  style={sizeOf(column.width)}
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

/** A checkbox for all rows. */
function SelectAll({
  keys,
  selected,
  onAll,
}: {
  readonly keys: readonly string[];
  readonly selected: ReadonlySet<string>;
  readonly onAll: (keys: readonly string[], isSelected: boolean) => void;
}) {
  const count = keys.filter((key) => selected.has(key)).length;
  const isAll = count > 0 && count === keys.length;
  return (
    <input
      ref={(box) => {
        if (box) box.indeterminate = count > 0 && !isAll;
      }}
      type="checkbox"
      aria-label="Select all rows on this page"
      checked={isAll}
      onChange={() => {
        onAll(keys, !isAll);
      }}
    />
  );
}

/** The width of a column while it is dragged, in pixels. */
export interface Dragged {
  readonly name: string;
  readonly width: number;
}

/** The edge of a header that changes the width of its column; the menu of columns does so by keyboard. */
export function Grip({
  name,
  onDrag,
  onDrop,
}: {
  /** Of the column. */
  readonly name: string;
  /** Called with nothing at the end. */
  readonly onDrag: (dragged: Dragged | undefined) => void;
  readonly onDrop: (name: string, width: number) => void;
}) {
  const from = useRef<{ readonly x: number; readonly width: number }>(undefined);
  const widthAt = ({ clientX }: PointerEvent): number | undefined =>
    from.current &&
    Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, from.current.width + clientX - from.current.x)));
  return (
    <span
      className={styles['grip']}
      aria-hidden="true"
      onPointerDown={(event) => {
        const header = event.currentTarget.parentElement;
        if (!header) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, width: header.getBoundingClientRect().width };
      }}
      onPointerMove={(event) => {
        const width = widthAt(event);
        if (width !== undefined) onDrag({ name, width });
      }}
      onPointerUp={(event) => {
        const width = widthAt(event);
        const isMoved = from.current?.x !== event.clientX;
        from.current = undefined;
        onDrag(undefined);
        if (width !== undefined && isMoved) onDrop(name, width);
      }}
    />
  );
}

function Header<Item>({
  column,
  sort,
  children,
}: {
  readonly column: Column<Item>;
  readonly sort: Props<Item>['sort'];
  /** The handle for the width. */
  readonly children: ReactNode;
}) {
  const { name, header, hint, width } = column;
  const isAscending = sort?.by === name;
  const isDescending = sort?.by === `-${name}`;
  const attributes = {
    scope: 'col',
    className: headClassOf(column),
    style: sizeOf(width),
    title: hint,
  };
  if (!sort?.columns.includes(name))
    return (
      <th {...attributes}>
        {header}
        {children}
      </th>
    );
  const toggle = (): void => {
    sort.onChange(isDescending ? name : `-${name}`);
  };
  return (
    <th {...attributes} aria-sort={isAscending ? 'ascending' : isDescending ? 'descending' : 'none'}>
      <button type="button" className={styles['sortButton']} onClick={toggle}>
        {header} {isAscending && <ArrowUp size={12} aria-hidden="true" />}
        {isDescending && <ArrowDown size={12} aria-hidden="true" />}
      </button>
      {children}
    </th>
  );
}
