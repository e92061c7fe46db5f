import duckdb from '@duckdb/node-bindings';
import { Connection, OpenFiles } from './connection.js';

const MEMORY_LIMIT = '512MiB';

/** A DuckDB in memory, apart from any store, for Parquet files. */
export interface OwnDatabase {
  readonly connection: Connection;
  close(): void;
}

/** @param directory a folder for what does not fit into 512 MiB */
export async function openOwnDatabase(directory: string): Promise<OwnDatabase> {
  const config = duckdb.create_config();
  // One thread keeps rows in their order.
  duckdb.set_config(config, 'threads', '1');
  duckdb.set_config(config, 'memory_limit', MEMORY_LIMIT);
  duckdb.set_config(config, 'temp_directory', directory);
  const database = await duckdb.open(':memory:', config);
  const connection = new Connection(await duckdb.connect(database), new OpenFiles());
  await connection.run("SET GLOBAL TimeZone = 'UTC'");
  for (const key of [
    'autoinstall_known_extensions',
    'autoload_known_extensions',
    'allow_community_extensions',
  ])
    await connection.run(`SET GLOBAL ${key} = false`);
  await connection.run('SET GLOBAL lock_configuration = true');
  return {
    connection,
    close: () => {
      connection.close();
      duckdb.close_sync(database);
    },
  };
}
