import t, { type Test } from 'tap';
import { DeliveryMemory } from '../../src/storage/duckdb/meta/delivery-memory.js';
import { DeliveryQueue } from '../../src/storage/duckdb/meta/delivery-queue.js';
import type { WaitingRow } from '../../src/storage/duckdb/meta/delivery-rows.js';
import { atRest, queued } from '../../src/storage/delivery-state.js';
import { MetaConnection } from '../../src/storage/duckdb/meta/meta-connection.js';
import { uuidV7 } from '../../src/signal/ids.js';
import { openMetaTables } from '../storage/opened-meta-tables.js';
import { NOON } from '../support/run-records.js';
import { DeliveryPlace, success } from './delivery-place.js';

const ENDPOINT = uuidV7(0);

function aRow(delivery: number): WaitingRow {
  return { delivery, id: uuidV7(0), event: 1, endpointId: ENDPOINT, waiting: queued(NOON) };
}

/** A queue with its memory, on a connection of their own. */
async function openQueue(t: Test) {
  const opened = await openMetaTables(t);
  const connection = new MetaConnection(await opened.connect(), opened.file);
  const memory = new DeliveryMemory(connection);
  const queue = new DeliveryQueue(connection, memory);
  const inMemory = async (): Promise<readonly number[] | null> => {
    const rows = await connection.transaction(() => memory.rows());
    return rows && [...rows.keys()].sort((a, b) => a - b);
  };
  const inTable = async (): Promise<readonly number[]> => {
    const rows = await connection.transaction(() => queue.read('true'));
    return rows.map(({ delivery }) => delivery).sort((a, b) => a - b);
  };
  return { connection, memory, queue, inMemory, inTable };
}

void t.test('it follows what is written, and a transaction that fails leaves no trace', async (t) => {
  const { connection, memory, queue, inMemory, inTable } = await openQueue(t);
  t.strictSame(await inMemory(), []);
  await connection.transaction(async () => {
    queue.add([aRow(1), aRow(2)]);
  });
  t.strictSame(await inMemory(), [1, 2]);
  const failing = async (first: () => Promise<unknown>): Promise<void> => {
    const work = connection.transaction(async () => {
      await first();
      queue.save([{ ...aRow(1), waiting: atRest(1) }, aRow(3)]);
      t.strictSame([...((await memory.rows())?.keys() ?? [])].sort(), [2, 3], 'it sees its own changes');
      throw new Error('not now');
    });
    await t.rejects(work, { message: 'not now' });
    t.strictSame(await inMemory(), [1, 2]);
    t.strictSame(await inTable(), [1, 2]);
  };
  await failing(() => memory.rows());
  // It is not known when the transaction begins, and read in the middle of it.
  await t.rejects(
    connection.transaction(async () => {
      queue.add([aRow(9)]);
      throw new Error('not now');
    }),
  );
  await failing(() => Promise.resolve());
  await connection.transaction(async () => {
    queue.save([{ ...aRow(1), waiting: atRest(1) }]);
  });
  t.strictSame(await inMemory(), [2]);
  t.strictSame(await inTable(), [2]);
});

void t.test('what is changed in the database alone is asked there until the commit', async (t) => {
  const { connection, memory, queue, inMemory } = await openQueue(t);
  await connection.transaction(async () => {
    queue.add([aRow(1), { ...aRow(2), waiting: { ...atRest(0), manual: 1 } }]);
  });
  t.strictSame(await inMemory(), [1, 2]);
  await connection.transaction(async () => {
    await queue.forgetManual([ENDPOINT]);
    t.equal(await memory.rows(), null);
    queue.add([aRow(3)]);
    t.equal(await memory.rows(), null);
  });
  t.strictSame(await inMemory(), [1, 3]);
  await connection.transaction(async () => {
    memory.endpointsOutdated();
    t.equal(await memory.rows(), null);
    queue.add([aRow(4)]);
  });
  t.strictSame(await inMemory(), [1, 3, 4]);
});

void t.test('events are kept up to some megabytes, and read where they are not', async (t) => {
  const { connection, memory } = await openQueue(t);
  const event = (number: number) => ({ id: `e${number}`, type: 'trace.failed', body: 'x'.repeat(1_000_000) });
  for (let number = 1; number <= 20; number++) memory.keep(number, event(number));
  const found = await connection.transaction(() => memory.events([1, 2, 19, 20]));
  t.strictSame([...found.keys()], [19, 20], 'the table has none');
  t.strictSame(found.get(20), event(20));
});

void t.test('a queue that is longer than it keeps is worked off all the same', async (t) => {
  const place = await DeliveryPlace.open(t);
  for (let i = 0; i < 8; i++) await place.endpoint();
  const events = Array.from({ length: 700 }, () => place.event());
  t.equal(await place.add(...events), 5600);
  const bodies = new Map(events.map(({ id, body }) => [id, body]));
  const seen = new Map<string, Set<string>>();
  for (;;) {
    const { claims } = await place.claim(0, { limit: 200, perEndpoint: 25, perOrganization: 200 });
    if (claims.length === 0) break;
    for (const { event_id, endpoint_id, body } of claims) {
      const endpoints = seen.get(event_id) ?? new Set<string>();
      if (endpoints.has(endpoint_id)) t.fail('a delivery is claimed twice');
      seen.set(event_id, endpoints.add(endpoint_id));
      if (body !== bodies.get(event_id)) t.fail('the body of another event');
    }
    await place.finish(claims.map((claim) => success(claim)));
  }
  t.equal(seen.size, 700);
  t.ok([...seen.values()].every(({ size }) => size === 8));
});
