import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { startTestDaemon } from '../support/daemon.js';
import { PostgresServer } from '../support/postgres.js';
import { SEED } from '../support/property.js';
import { testFolder } from '../support/test-folder.js';
import { TransferPlace } from '../support/transfer-place.js';
import { until } from '../support/until.js';
import { Comparable } from './comparable.js';
import { GatewayFleet } from './gateway-fleet.js';
import { makeHistory, USERS, type SentRequest } from './histories.js';
import { answersOf } from './read-routes.js';
import { SPANS_OF_RUN, WholeRuns } from './whole-runs.js';

const RUNS = Number(process.env['JACKDAW_TEST_RUNS'] ?? 20);
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 2);
const GATEWAYS = 3;
const SENDERS = 6;
/** All but one of these hit ClickHouse at each kill: a starting gateway tries a statement four times and exits if all fail. */
const FAULTS = ['cut', 'lost', 'half', 202] as const;

t.setTimeout(0);
const clickHouse = await ClickHouseServer.start(t);
const postgres = await PostgresServer.start(t);
const skip = [clickHouse, postgres].find((started) => typeof started === 'string') ?? false;

/** Users with a key each, the same on both sides. */
async function makeUsers(api: ApiCaller): Promise<string[]> {
  const keys: string[] = [];
  for (let i = 0; i < USERS; i++)
    keys.push((await api.createUser(`user-${i}@example.org`, ['read', 'write', 'manage'])).key);
  return keys;
}

/** Sends a request until it is accepted. @param api returns the next target, possibly a different one each time */
async function send(api: () => ApiCaller, keys: readonly string[], request: SentRequest): Promise<void> {
  for (;;) {
    const { method, path, json, taken } = request;
    try {
      const { status, body } = await api().call(method, path, { json, key: keys[request.user] ?? '' });
      // A conflict means that a request with a lost response created the prompt.
      if (status === taken || status === 409) return;
      if (status !== 503) throw new RangeError(`${path} was answered ${status}: ${JSON.stringify(body)}`);
    } catch (error) {
      // A killed gateway sends no response.
      if (error instanceof RangeError) throw error;
    }
    await wait(20);
  }
}

async function sendAll(
  api: () => ApiCaller,
  keys: readonly string[],
  requests: readonly SentRequest[],
  senders: number,
): Promise<void> {
  const left = requests.toSorted(() => Math.random() - 0.5);
  const sender = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await send(api, keys, next);
  };
  await Promise.all(Array.from({ length: senders }, sender));
}

void t.test(
  'three randomly killed gateways respond like one embedded daemon',
  { skip: typeof skip === 'string' ? skip : false },
  async (t: Test) => {
    if (typeof clickHouse === 'string' || typeof postgres === 'string') return;
    t.comment(`seed ${SEED}`);
    const since = Date.now();
    const history = makeHistory(SEED, RUNS);
    const embedded = await startTestDaemon(t);
    const alone = new ApiCaller(embedded.url, embedded.key);
    const fleet = await GatewayFleet.start(t, { clickHouse, postgres, folder: testFolder(t) }, GATEWAYS);
    const members = (): ApiCaller[] => fleet.gateways.map(({ url }) => new ApiCaller(url, fleet.key));
    const anyMember = (): ApiCaller =>
      new ApiCaller(fleet.gateways[randomInt(GATEWAYS)]?.url ?? '', fleet.key);
    const aloneKeys = await makeUsers(alone);
    const fleetKeys = await makeUsers(anyMember());

    for (const request of history.first) {
      await send(() => alone, aloneKeys, request);
      await send(anyMember, fleetKeys, request);
    }
    const shareOf = (stages: number): number => Math.round((KILLS * stages) / history.stages.length);
    for (const [stage, requests] of history.stages.entries()) {
      await sendAll(() => alone, aloneKeys, requests, 1);
      // Some are repeated, concurrently or later.
      const repeated = requests.filter(() => Math.random() < 0.2);
      const sent = sendAll(anyMember, fleetKeys, [...requests, ...repeated], SENDERS);
      for (let kill = shareOf(stage); kill < shareOf(stage + 1); kill++) {
        await wait(Math.random() * 100);
        const spared = FAULTS[randomInt(FAULTS.length)];
        for (const kind of FAULTS) if (kind !== spared) await clickHouse.fault({ kind, times: 1 });
        await fleet.kill(randomInt(GATEWAYS));
      }
      await sent;
      await clickHouse.heal();
    }

    const ids = new Set([...history.spanIds, ...history.traceIds.flat()]);
    // Leftovers of a killed gateway are counted after its lease expires.
    await until('everything is counted', async () => {
      for (let user = 0; user < USERS; user++) {
        const one = await alone.get<{ used: number }>('/usage', aloneKeys[user]);
        const other = await anyMember().get<{ used: number }>('/usage', fleetKeys[user]);
        if (one.used !== other.used) return false;
      }
      return true;
    });
    const known: Awaited<ReturnType<typeof answersOf>>[] = [];
    const compare = async (t: Test, others: readonly ApiCaller[]): Promise<void> => {
      for (let user = 0; user < USERS; user++) {
        const asked = {
          traceIds: history.traceIds[user] ?? [],
          spanIds: [...history.spanIds].slice(0, 20),
          noon: new Date(since - 100 * 60_000).toISOString(),
          end: new Date(since).toISOString(),
        };
        const one = known[user] ?? (known[user] = await answersOf([alone], aloneKeys[user] ?? '', asked));
        const other = await answersOf(others, fleetKeys[user] ?? '', asked);
        const [ofOne, ofOther] = [new Comparable(ids, since), new Comparable(ids, since)];
        t.ok(one.length > 50);
        for (const [i, { question, status, body }] of one.entries()) {
          t.equal(other[i]?.status, status, `${question}: status`);
          t.equal(ofOther.of(other[i]?.body), ofOne.of(body), `${question} (seed ${SEED})`);
        }
      }
    };
    await compare(t, members());

    await t.test('a store filled from their export responds the same', async (t) => {
      const writer = await anyMember().createUser('writer@example.org', ['read', 'write']);
      // The other gateways receive the key slightly later.
      await until('all gateways accept the key', async () => {
        const { key } = writer;
        const asked = await Promise.all(members().map((api) => api.call('GET', '/usage', { key })));
        return asked.every(({ status }) => status === 200);
      });
      const writing = new WholeRuns(anyMember, writer.key);
      await until('some runs are there', () => writing.answered.length > 5);
      const certain = [...writing.answered];
      const directory = join(testFolder(t), 'export');
      const through = ['--url', fleet.gateways[0]?.url ?? '', '--key', fleet.key];
      const exported = await runInProcess(['export', '--to', directory, ...through]);
      await writing.end();
      t.equal(exported.code, 0, exported.stderr);
      const place = new TransferPlace(t);
      const imported = await place.import(directory);
      t.equal(imported.code, 0, imported.stderr);
      const filled = await startTestDaemon(t, place.daemon(fleet.key));
      const there = new ApiCaller(filled.url, fleet.key);
      await compare(t, [there]);
      const found = await writing.foundBy(there);
      t.strictSame(
        certain.filter((id) => !found.has(id)),
        [],
        'runs acknowledged before are exported',
      );
      t.strictSame(
        [...found].filter(([, spans]) => spans !== SPANS_OF_RUN),
        [],
        'no run is incomplete',
      );
    });
  },
);
