import { MAIN } from '../database.js';
import { keysSetAside, type CheckedFile, type CheckedTable } from '../unusable-rows.js';
import { ALERT_EVENTS, ALERT_NOTICES, ALERTS } from './alert-definitions.js';
import { META_TABLES } from './all-tables.js';
import { ATTEMPTS, DELIVERIES, TAKEN_EVENTS, WAITING } from './delivery-definitions.js';
import {
  ENDPOINTS,
  KEYS,
  MEMBERS,
  ORGANIZATIONS,
  PROMPTS,
  sqlType,
  USERS,
  type MetaTable,
} from './tables.js';
import { numberColumn, UNUSABLE_META } from './unusable-definition.js';

/** Finite ones. */
const DOUBLES = [-Number.MAX_VALUE, Number.MAX_VALUE] as const;
/** Where a number is what cannot be used, it was among those that follow the greatest one that can. */
const MOST_NUMBERS = 1_000_000;

/** Rows that are nothing without another: the table and the column that name it. */
const BELONGS: readonly (readonly [MetaTable, string, of: MetaTable, key: string])[] = [
  ...[KEYS, MEMBERS, PROMPTS, ALERTS, ALERT_NOTICES].map((table) => [table, 'user_id', USERS, 'id'] as const),
  ...[MEMBERS, ENDPOINTS].map((table) => [table, 'organization_id', ORGANIZATIONS, 'id'] as const),
  [ALERT_EVENTS, 'alert_id', ALERTS, 'id'],
  [ALERT_NOTICES, 'alert_id', ALERTS, 'id'],
  [ALERT_NOTICES, 'event', ALERT_EVENTS, 'number'],
  [DELIVERIES, 'event', TAKEN_EVENTS, 'number'],
  [WAITING, 'delivery', DELIVERIES, 'number'],
  [ATTEMPTS, 'delivery', DELIVERIES, 'number'],
];

/**
 * The main file, for a start that looks for rows that cannot be used. With a row go those that belong to it, and the small
 * number that it had is not given again: what it stands for elsewhere would be another's.
 */
export function mainFile(path: string): CheckedFile {
  const tables = new Map(
    META_TABLES.filter((table) => table !== UNUSABLE_META).map((table) => [table, checked(table)]),
  );
  return {
    catalog: MAIN,
    path,
    tables: [...tables.values()],
    kept: (table) => ({
      table_name: `'${table.name}'`,
      number: numberOf(table),
      content: 'r::VARCHAR',
    }),
    settle: async (rows, setAside) => {
      // In this order: what goes with one takes others with it.
      for (const [table, column, of, key] of BELONGS) {
        const own = tables.get(table);
        if (!rows.has(of.name) || own === undefined) continue;
        await setAside(own, `${column}::VARCHAR IN (${keysSetAside(of.name, key)})`);
      }
    },
  };
}

/** The number of a row `r`, in SQL; where that cannot be used, one that is not less than what it was. */
function numberOf({ name, keys = [] }: CheckedTable): string {
  const [column] = keys.filter((key) => key !== 'id');
  if (column === undefined) return 'NULL';
  const isUsable = `${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`;
  return `CASE WHEN r.${isUsable} THEN r.${column} ELSE (SELECT coalesce(max(${column}), 0) + ${MOST_NUMBERS} FROM ${MAIN}.main.${name} WHERE ${isUsable}) END`;
}

function checked(table: MetaTable): CheckedTable {
  const { name, columns } = table;
  const number = numberColumn(table);
  const ids = columns.some((column) => column.name === 'id') ? ['id'] : [];
  return {
    name,
    keys: number === undefined ? ids : [...ids, number],
    columns: columns.map((column) => ({
      name: column.name,
      sql: sqlType(column.kind),
      isJson: column.kind === 'json',
      // The value that an alert met may be any number.
      ...(column.name !== 'value' && { bounds: DOUBLES }),
    })),
  };
}
