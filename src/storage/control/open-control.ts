import { dirname, resolve } from 'node:path';
import type { Clock, Logger } from '../../component/telemetry.js';
import type { ControlOptions } from './control-options.js';
import { SqlControlStore } from './sql-control-store.js';
import { openPostgres } from './postgres/open-postgres.js';
import { openSqlite } from './sqlite/open-sqlite.js';

/** Opens the configured control store. @throws ControlStoreError with the location and the remedy */
export async function openControl(
  options: ControlOptions,
  parts: { readonly clock: Clock; readonly logger: Logger },
): Promise<SqlControlStore> {
  const { clock } = parts;
  if (options.engine === 'postgres')
    return new SqlControlStore(await openPostgres({ ...options, ...parts }), null, clock);
  const directory = dirname(resolve(options.path));
  return new SqlControlStore(await openSqlite({ path: options.path, ...parts }), directory, clock);
}
