import { columnsOf } from '../../table.js';
import { POINTS, SEGMENT_TABLES, UNUSABLE_ROWS } from '../../tables.js';
import { LOGS } from '../../log-tables.js';
import { deriveSumsAnew } from '../sums/cold-sums.js';
import type { Connection } from '../files/connection.js';
import { COLD } from '../rows/segment.js';
import type { CheckedFile } from '../files/unusable-rows.js';

/** @param catalog the cold file, whose sums are derived anew where rows are set aside, or a hot segment */
export function telemetryFile(connection: Connection, catalog: string, path: string): CheckedFile {
  return {
    catalog,
    path,
    tables: SEGMENT_TABLES.filter((table) => table !== UNUSABLE_ROWS).map((table) => ({
      name: table.name,
      columns: columnsOf(table).map(({ name, sql }) =>
        // The value of a metric may be any number.
        table === POINTS ? { name, sql } : { name, sql, bounds: [0, Number.MAX_SAFE_INTEGER] as const },
      ),
    })),
    // Under no commit, since the number of their own may be what is wrong with them.
    kept: ({ name }) => ({ seq: '0', tenant: '0', table_name: `'${name}'`, content: 'r::VARCHAR' }),
    settle: async () => {
      // What they added to the sums is not what they hold now.
      if (catalog === COLD) await deriveSumsAnew(connection);
    },
    hint: (rows) => (rows.has(LOGS.name) ? ' They may make counts of log searches too high.' : ''),
  };
}
