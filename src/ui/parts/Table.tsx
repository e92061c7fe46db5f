import type { ReactNode } from 'react';
import { cx } from './cx.js';
import { cellClassOf, headClassOf, labelOf, type Column } from './DataTable.js';
import styles from './parts.module.css';

/** A table without row links. The first column is the row header. */
export function Table<Item>({
  label,
  items,
  columns,
  keyOf,
}: {
  readonly label: string;
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
}) {
  const cell = (item: Item, column: Column<Item>): ReactNode => (
    <td key={column.name} className={cellClassOf(column)} data-label={labelOf(column)}>
      {column.render(item)}
    </td>
  );
  return (
    <div className={cx(styles['tableWrap'], styles['stacking'])}>
      <table className={styles['table']} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" title={column.hint} className={headClassOf(column)}>
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>{columns.map((column) => cell(item, column))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
