import { ArrowDown, ArrowUp, Columns3, Minus, Plus } from 'lucide-react';
import { cx } from '../parts/cx.js';
import type { Column } from '../parts/DataTable.js';
import parts from '../parts/parts.module.css';
import { Popover } from '../parts/Popover.js';
import {
  MAX_WIDTH,
  MIN_WIDTH,
  movedColumn,
  placedColumns,
  printColumns,
  resizedColumns,
} from '../parts/columns.js';
import styles from './list.module.css';

/** One step of the buttons for widths, and the width from which they start. */
const STEP = 40;
const USUAL = 160;

/**
 * The columns of a list as the user arranged them.
 *
 * @param value of the URL, empty for the default
 * @returns the menu, and attributes of the table
 */
export function arranged<Item>(
  columns: readonly Column<Item>[],
  value: string,
  onChange: (value: string) => void,
) {
  return {
    menu: <ColumnMenu columns={columns} value={value} onChange={onChange} />,
    table: {
      columns: placedColumns(columns, value),
      onResize: (name: string, width: number) => {
        onChange(resizedColumns(columns, value, name, width));
      },
    },
  };
}

/** Selects the columns of a list, their order and their widths. */
function ColumnMenu({
  columns,
  value,
  onChange,
}: {
  readonly columns: readonly Pick<Column<never>, 'name' | 'header' | 'isExtra'>[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const placed = placedColumns(columns, value);
  const hidden = columns.filter(({ name }) => !placed.some((column) => column.name === name));
  const put = (next: readonly { readonly name: string; readonly width?: number }[]): void => {
    onChange(printColumns(columns, next));
  };
  const resize = (name: string, by: number): void => {
    put(
      placed.map((column) =>
        column.name === name
          ? { ...column, width: Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, (column.width ?? USUAL) + by)) }
          : column,
      ),
    );
  };
  return (
    <Popover icon={Columns3} label="Columns">
      {() => (
        <>
          <ul className={cx(styles['list'], styles['columns'])}>
            {placed.map((column, at) => (
              <li key={column.name}>
                <label className={parts['label']}>
                  <input
                    type="checkbox"
                    checked
                    disabled={at === 0}
                    onChange={() => {
                      put(placed.filter((each) => each !== column));
                    }}
                  />
                  {column.header}
                </label>
                <Small
                  icon={ArrowUp}
                  label={`Move ${column.header} left`}
                  isOff={at < 2}
                  onPress={() => {
                    put(movedColumn(placed, column.name, -1));
                  }}
                />
                <Small
                  icon={ArrowDown}
                  label={`Move ${column.header} right`}
                  isOff={at === 0 || at === placed.length - 1}
                  onPress={() => {
                    put(movedColumn(placed, column.name, 1));
                  }}
                />
                <Small
                  icon={Minus}
                  label={`Make ${column.header} narrower`}
                  isOff={column.width === MIN_WIDTH}
                  onPress={() => {
                    resize(column.name, -STEP);
                  }}
                />
                <Small
                  icon={Plus}
                  label={`Make ${column.header} wider`}
                  isOff={column.width === MAX_WIDTH}
                  onPress={() => {
                    resize(column.name, STEP);
                  }}
                />
              </li>
            ))}
            {hidden.map((column) => (
              <li key={column.name}>
                <label className={parts['label']}>
                  <input
                    type="checkbox"
                    checked={false}
                    onChange={() => {
                      put([...placed, column]);
                    }}
                  />
                  {column.header}
                </label>
              </li>
            ))}
          </ul>
          <button
            type="button"
            className={parts['button']}
            disabled={value === ''}
            onClick={() => {
              onChange('');
            }}
          >
            Reset columns
          </button>
          <small className={parts['faint']}>The columns are part of the address and of saved views.</small>
        </>
      )}
    </Popover>
  );
}

function Small({
  icon: Icon,
  label,
  isOff,
  onPress,
}: {
  readonly icon: typeof ArrowUp;
  readonly label: string;
  readonly isOff: boolean;
  readonly onPress: () => void;
}) {
  return (
    <button
      type="button"
      className={styles['small']}
      aria-label={label}
      title={label}
      disabled={isOff}
      onClick={onPress}
    >
      <Icon size={12} aria-hidden="true" />
    </button>
  );
}
