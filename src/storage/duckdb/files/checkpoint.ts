import type { Connection } from './connection.js';
import { literal } from './database.js';
import { forgetMetadataCopy, keepMetadata } from './metadata-copy.js';

/**
 * Takes what a file's log holds into the file, so that a process that is killed meanwhile leaves a file that can be opened.
 *
 * DuckDB 1.5.5 writes the blocks that hold its metadata anew in place at every checkpoint, while the header in force still leads to
 * what they held before. Linux ends a large write between two pages when its process is killed; half a block has no valid
 * checksum, and DuckDB refuses the file. So a copy of these blocks lies beside the file as long as a checkpoint is under way:
 * `restoreMetadata` puts them back when the file is next opened.
 *
 * @param connection is in no transaction
 * @param catalog of an attached file that nothing else checkpoints
 * @throws whatever the checkpoint throws, or the copying: then there was none. The copy stays until the next one
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
