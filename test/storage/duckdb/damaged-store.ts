import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { Test } from 'tap';
import { Database, literal } from '../../../src/storage/duckdb/files/database.js';
import { aSpanRecord, aTrace, NOON } from '../../support/run-records.js';
import { filesOf } from './stored-rows.js';
import { TestStore } from './test-store.js';

const HEAD_BYTES = 3 * 4096;
const BLOCK_BYTES = 256 * 1024;
const DAMAGED_AT = 5000;

/** A closed store whose cold file has the runs of two users with incompressible texts. Returns the runs in order. */
export async function aMovedStore(
  t: Test,
  options: Parameters<typeof TestStore.open>[1] = {},
): Promise<{ opened: TestStore; users: readonly string[]; runs: readonly string[] }> {
  // Each part is sealed and compacted separately.
  const opened = await TestStore.open(t, { segmentSize: { rows: 300, bytes: 1e9 }, ...options });
  const users = [await opened.addUser(), await opened.addUser()];
  const runs: string[] = [];
  for (let part = 0; part < 3; part++) {
    for (let n = 0; n < 40; n++) {
      const { trace } = aTrace(0, { outcome: noise(4000), started_at: NOON + (part * 40 + n) * 1_000_000 });
      const spans = Array.from({ length: 8 }, () =>
        aSpanRecord(trace.trace_id, {
          name: noise(1000),
          started_at: trace.started_at,
          input_data: { noise: noise(1500) },
        }),
      );
      const tenant = users[n % 2] ?? '';
      await opened.store.writer.traces({ tenant, items: [{ trace, spans }] }, { receivedAt: NOON });
      runs.push(trace.trace_id);
    }
    await opened.store.settled();
  }
  await opened.close();
  return { opened, users, runs };
}

export function coldFile(path: string): string {
  return filesOf(path).find((file) => file.endsWith('.cold.duckdb')) ?? '';
}

/** Flips bytes in a block of a column in the cold file of a closed store. @param which index from 0; blocks shared with other columns come last */
export async function damageColumn(path: string, table: string, column: string, which = 0): Promise<void> {
  const file = coldFile(path);
  const database = await Database.open({ path: ':memory:', memoryLimit: '256MiB', threads: 1 });
  let blocks: number[];
  try {
    const connection = await database.connect();
    await connection.run(`ATTACH ${literal(file)} AS cold (READ_ONLY)`);
    const rows = await connection.rows(
      `SELECT block_id FROM (SELECT column_name, unnest(list_prepend(block_id, additional_block_ids)) AS block_id FROM pragma_storage_info('cold.main.${table}') WHERE segment_type <> 'VALIDITY' AND block_id >= 0)
       GROUP BY block_id HAVING bool_or(column_name = ${literal(column)}) ORDER BY count(DISTINCT column_name) > 1, block_id`,
    );
    blocks = rows.map(({ block_id }) => Number(block_id));
  } finally {
    database.close();
  }
  const block = blocks[which];
  if (block === undefined) throw new Error(`${table}.${column} has ${blocks.length} blocks`);
  flip(file, HEAD_BYTES + block * BLOCK_BYTES + DAMAGED_AT);
}

/** Flips 16 bytes with different masks: equal masks would leave DuckDB's checksum unchanged. */
export function flip(file: string, position: number): void {
  const descriptor = openSync(file, 'r+');
  try {
    const bytes = Buffer.alloc(16);
    readSync(descriptor, bytes, 0, bytes.length, position);
    writeSync(
      descriptor,
      bytes.map((byte, i) => byte ^ (37 * i + 11)),
      0,
      bytes.length,
      position,
    );
  } finally {
    closeSync(descriptor);
  }
}

function noise(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length);
}
