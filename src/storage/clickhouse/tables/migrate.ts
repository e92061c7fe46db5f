import type { Logger } from '../../../component/telemetry.js';
import { setTimeout as wait } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../telemetry/system-clock.js';
import { HeldLease } from '../../shared/held-lease.js';
import type { Leases } from '../../contracts/coordination.js';
import type { Connection } from '../client/connection.js';
import { named } from '../client/literals.js';
import type { ClickHouseOptions } from '../clickhouse-options.js';
import { ClickHouseStoreError } from '../clickhouse-store-error.js';
import type { Migration } from './migrations.js';
import { StoreFacts } from './store-facts.js';
import { onCluster } from './table.js';

/** Lease of a migration; others wait for it if the migrating process is killed. */
const LEASE_MS = 30_000;
/** Poll interval of processes that wait for a migration. */
const LOOK_MS = 250;

const DONE = 'migration/';

/** The process that needs the tables. */
interface Migrator {
  /** Identifies the process. */
  readonly owner: string;
  readonly leases: Leases;
  /** The identity of the control store, whose numbers are in rows. */
  readonly control: string;
  readonly logger: Logger;
}

/**
 * Migrates the tables to this version. If several processes start at once, one migrates under a lease of the control store, and the others
 * wait.
 *
 * @param connection without a database
 * @returns the UUID assigned when the store was created
 * @throws ClickHouseStoreError if a newer version or another control store has used it; ConsumeError
 */
export async function migrate(
  connection: Connection,
  options: Pick<ClickHouseOptions, 'database' | 'cluster' | 'isReplicated' | 'migrates'>,
  migrations: readonly Migration[],
  { owner, leases, control, logger }: Migrator,
): Promise<string> {
  const facts = new StoreFacts(connection, options);
  for (;;) {
    const known = await facts.read();
    refuse(known, options.database, migrations, control);
    const id = known?.get('identity');
    const isComplete = migrations.every(({ name }) => known?.has(DONE + name));
    if (id !== undefined && isComplete) return id;
    if (!options.migrates) {
      throw new ClickHouseStoreError(
        `The database ${options.database} in ClickHouse lacks tables that this version of Jackdaw needs. Start a daemon with extensions.clickhouse.migrate: true, or set it here.`,
      );
    }
    const hold = { leases, ms: LEASE_MS, clock: systemClock };
    const held = await HeldLease.take(hold, `clickhouse/${options.database}/migrate`, owner);
    if (held === null) await wait(LOOK_MS);
    else await run({ connection, facts, held, control, logger }, options, migrations);
  }
}

interface Run {
  readonly connection: Connection;
  readonly facts: StoreFacts;
  readonly held: HeldLease;
  readonly control: string;
  readonly logger: Logger;
}

/** Runs the missing migrations while the lease holds; if another process takes the lease, that one continues. */
async function run(
  { connection, facts, held, control, logger }: Run,
  options: Pick<ClickHouseOptions, 'database' | 'cluster' | 'isReplicated'>,
  migrations: readonly Migration[],
): Promise<void> {
  try {
    await connection.command(`CREATE DATABASE IF NOT EXISTS ${named(options.database)}${onCluster(options)}`);
    await facts.create();
    // Another process may have migrated before the lease was taken.
    const known = (await facts.read()) ?? new Map<string, string>();
    const own = Object.entries({ control, identity: randomUUID() });
    await facts.note(own.filter(([name]) => !known.has(name)));
    const steps = migrations.filter(({ name }) => !known.has(DONE + name));
    // A new store whose creation was interrupted no longer counts as new and runs every migration.
    const isNew = await facts.areAlone();
    for (const { name, statements, isChange = false } of steps) {
      if (held.lost.aborted) return;
      if (isNew && isChange) continue;
      for (const statement of statements(options)) await connection.command(statement);
      if (!isNew) await facts.note([[DONE + name, '']]);
    }
    const names = steps.map(({ name }) => name);
    if (isNew) await facts.note(names.map((name) => [DONE + name, '']));
    else if (names.length > 0)
      logger.info({ database: options.database, migrations: names }, 'Upgraded the tables in ClickHouse.');
  } finally {
    await held.release();
  }
}

function refuse(
  known: ReadonlyMap<string, string> | null,
  database: string,
  migrations: readonly Migration[],
  control: string,
): void {
  const names = new Set(migrations.map(({ name }) => DONE + name));
  const unknown = [...(known?.keys() ?? [])].filter((name) => name.startsWith(DONE) && !names.has(name));
  if (unknown.length > 0) {
    const steps = unknown.map((name) => name.slice(DONE.length)).sort();
    throw new ClickHouseStoreError(
      `The database ${database} in ClickHouse was created by a newer version of Jackdaw (it has ${steps.join(', ')}). Run that version, or use another database.`,
    );
  }
  const other = known?.get('control');
  if (other !== undefined && other !== control) {
    throw new ClickHouseStoreError(
      `The database ${database} in ClickHouse belongs to another control store. Set extensions.clickhouse.control to that store, or use another database.`,
    );
  }
}
