import { join } from 'node:path';
import type { Test } from 'tap';
import type { Connection } from '../../src/storage/duckdb/connection.js';
import { Database, MAIN } from '../../src/storage/duckdb/database.js';
import type { MainFile } from '../../src/storage/duckdb/meta/main-checkpoints.js';
import { MetaTables, type MetaSurroundings } from '../../src/storage/duckdb/meta/meta-tables.js';
import { META_TABLES } from '../../src/storage/duckdb/meta/all-tables.js';
import { migrate, type Schema } from '../../src/storage/duckdb/migrations.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { testFolder } from '../support/test-folder.js';

const META_SCHEMA: Schema = {
  version: 1,
  create: (catalog) => META_TABLES.map((table) => table.create(catalog)),
  upgrades: [],
};

/** The tables of the main file, without a store around them. */
export interface OpenedMetaTables {
  readonly tables: MetaTables;
  readonly path: string;
  readonly file: MainFile;
  readonly logger: RecordingLogger;
  /** How often it was told that events were written. */
  readonly told: () => number;
  /** A connection of the tests' own to the same file. */
  readonly connect: () => Promise<Connection>;
  /** The same file, read afresh. */
  readonly again: () => Promise<MetaTables>;
}

/** In a new file, which is closed when the test ends. @param agentName tells of agents; absent: there are none */
export async function openMetaTables(
  t: Test,
  agentName: MetaSurroundings['agentName'] = () => undefined,
): Promise<OpenedMetaTables> {
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const database = await Database.open({ path, memoryLimit: '256MiB', threads: 1 });
  t.teardown(() => {
    database.close();
  });
  const logger = new RecordingLogger();
  const file: MainFile = { path, attachAnew: () => database.attachMainAnew(), logger };
  let told = 0;
  const connect = async (): Promise<Connection> => {
    const connection = await database.connect();
    await connection.run(`USE ${MAIN}`);
    return connection;
  };
  const open = async (): Promise<MetaTables> =>
    await MetaTables.open(await connect(), {
      file,
      eventsWritten: () => {
        told++;
      },
      agentName,
    });
  await migrate(await connect(), MAIN, META_SCHEMA, path);
  return { tables: await open(), path, file, logger, told: () => told, connect, again: open };
}
