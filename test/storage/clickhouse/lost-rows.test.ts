import { rmSync } from 'node:fs';
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { serializePoint } from '../../../src/api/resources/metrics.js';
import { MICROS_PER_DAY } from '../../../src/signal/time-units.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { aLog } from '../../support/log-records.js';
import { aPoint } from '../../support/metric-points.js';
import { listOf } from '../../support/read-pieces.js';
import { NOON } from '../../support/run-records.js';
import { searchLogs } from '../duckdb/log-search.js';
import { TestClickHouse } from './test-clickhouse.js';

/** A proxy that crashes the server after a completed request and drops the response. */
class ServerBefore {
  crash: (() => Promise<void>) | null = null;
  crashes = 0;
  readonly #server: ClickHouseServer;
  readonly #matching: string;

  /** @param matching text in the statement after which the server crashes */
  constructor(server: ClickHouseServer, matching: string) {
    this.#server = server;
    this.#matching = matching;
  }

  /** @returns its address */
  async listen(t: Pick<Test, 'teardown'>): Promise<string> {
    const listener = createServer((request, response) => {
      void this.#pass(request, response);
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      listener.closeAllConnections();
      listener.close();
    });
    return `http://127.0.0.1:${String((listener.address() as AddressInfo).port)}`;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? '/', this.#server.url);
      const body = await buffer(request);
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const { method, headers } = request;
        ask(url, { method, headers, agent: false }, resolve).once('error', reject).end(body);
      });
      const text = await buffer(answer);
      const { crash } = this;
      if (crash !== null && url.searchParams.get('query')?.includes(this.#matching) === true) {
        this.crash = null;
        this.crashes++;
        await crash();
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers).end(text);
    } catch {
      request.socket.destroy();
    }
  }
}

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;
const DAYS = [0, 1, 2].map((day) => NOON - day * MICROS_PER_DAY);

void t.test('restores rows after a server is killed before acknowledging an insert', { skip }, async (t) => {
  if (typeof server === 'string') return;

  for (const table of ['logs', 'points'] as const)
    for (const lost of [0, 1, 3])
      await t.test(`loss of ${lost} of three days of ${table}`, async (t) => {
        const before = new ServerBefore(server, `INSERT INTO ${table} `);
        const opened = await TestClickHouse.open(t, server, { urls: [await before.listen(t)] });
        const { store, options } = opened;
        const user = await opened.addUser();
        const parts = async (): Promise<string[]> =>
          (
            await server.query(
              `SELECT path FROM system.parts WHERE database = '${options.database}' AND table = '${table}' AND active ORDER BY name`,
            )
          ).map(([path]) => String(path));
        const write = async (): Promise<unknown> =>
          table === 'logs'
            ? await store.writer.logs(
                {
                  tenant: user,
                  items: DAYS.flatMap((timestamp) => [aLog({ timestamp }), aLog({ timestamp })]),
                },
                { receivedAt: NOON },
              )
            : await store.writer.metrics(
                {
                  tenant: user,
                  items: DAYS.flatMap((timestamp) => [aPoint({ timestamp }), aPoint({ timestamp })]),
                },
                { receivedAt: NOON },
              );
        const stored = async (): Promise<number> => {
          if (table === 'logs') return (await searchLogs(store, user)).count;
          const found = await store.metrics.query(user, aPoint().stream.name, { limit: 100 });
          return (await listOf(found?.points, serializePoint)).length;
        };
        await write();
        const known = await parts();
        // Simulates a crash after the insert was recorded and before its parts were written: a retry is deduplicated.
        before.crash = async () => {
          const added = (await parts()).filter((path) => !known.includes(path));
          t.equal(added.length, DAYS.length);
          await server.kill();
          for (const path of added.slice(0, lost)) rmSync(path, { recursive: true });
          await server.resume();
        };
        t.match(await write(), { accepted: 6, refused: [] });
        t.equal(before.crashes, 1);
        t.equal(await stored(), 12, 'each row is stored once');
      });
});
