import type { Connection } from './connection.js';
import { literal } from './database.js';
import { forgetMetadataCopy, keepMetadata } from './metadata-copy.js';

/**
 * Writes the contents of a file's log into the file, so that a process killed meanwhile leaves a file that can be opened.
 *
 * DuckDB 1.5.5 rewrites the blocks with its metadata in place at every checkpoint, while the current header still refers to their
 * old contents. Linux ends a large write between two pages if its process is killed; half a block has no valid checksum, and
 * DuckDB refuses the file. So a copy of these blocks is kept next to the file during a checkpoint: `restoreMetadata` puts them
 * back when the file is next opened.
 *
 * @param connection is in no transaction
 * @param catalog of an attached file that nothing else checkpoints
 * @throws whatever the checkpoint or the copying throws; then there was no checkpoint. The copy stays until the next one
 */
export async function checkpoint(connection: Connection, catalog: string): Promise<void> {
  const name = literal(catalog);
  const [database] = await connection.rows(
    `SELECT path, block_size FROM duckdb_databases() JOIN pragma_database_size() USING (database_name) WHERE database_name = ${name}`,
  );
  if (typeof database?.path !== 'string') throw new Error(`${catalog} is no attached file`);
  const blocks = await connection.rows(`SELECT block_id FROM pragma_metadata_info(${name})`);
  try {
    await keepMetadata(
      connection.files.at(database.path),
      database.path,
      blocks.map(({ block_id }) => Number(block_id)),
      Number(database.block_size),
    );
  } catch (error) {
    connection.failed(error);
    throw error;
  }
  await connection.run(`CHECKPOINT ${catalog}`);
  await forgetMetadataCopy(database.path);
}
