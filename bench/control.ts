import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { itemAt, invariant } from '../src/signal/checked.js';
import type { Micros } from '../src/signal/time.js';
import type { ControlStore } from '../src/storage/contracts/control-store.js';
import { ControlExtension } from '../src/storage/control/control-extension.js';
import type { ControlOptions } from '../src/storage/control/control-options.js';
import { openControl } from '../src/storage/control/open-control.js';
import type { DeliveryClaim } from '../src/storage/contracts/deliveries.js';
import type { OpenWrite } from '../src/storage/contracts/coordination.js';
import { systemClock } from '../src/telemetry/system-clock.js';
import { aKey, anEndpoint, anOrganization, aUser } from '../test/storage/duckdb/meta-records.js';
import { componentSettings } from '../test/support/component-settings.js';
import { anEvent } from '../test/support/event-records.js';
import { inFreshDirectory } from './bench-directory.js';
import { LatencyRecorder } from './latency-recorder.js';
import { ms, printSetup, table, type Print } from './report.js';

const EVENTS = 100;
const CLAIMS = 32;
/** Of a group of requests that is written to a store of telemetry. */
const TRACES = 1000;
const USERS = 10;
const LEASE_MS = 600_000;
const RULES = { breakerThreshold: 1000 };
/** Of each kind, before it is measured. */
const WARMUP = 50;
const HOST = { reportStatus: () => undefined } as unknown as Parameters<ControlExtension['start']>[0];

export interface ControlBenchOptions {
  /** Of each kind. */
  readonly calls: number;
  /** How many are under way at the same time where it says so. */
  readonly together: number;
  /** Of an empty database that is measured, too. */
  readonly postgres?: string;
}

/** A plane to measure, and what ends it. */
interface Opened {
  readonly controlStore: ControlStore;
  close(): Promise<void>;
}

/** One call of a kind. @param number of the call, from 0 */
type Call = (number: number) => Promise<unknown>;

/**
 * `npm run bench -- control`: how long calls of the control store take, in the thread that has the store and from another one.
 */
export async function control(options: ControlBenchOptions, print: Print): Promise<void> {
  const { postgres, ...shown } = options;
  printSetup(print, 'control', { ...shown, postgres: postgres !== undefined });
  await inFreshDirectory(async (directory) => {
    const sqlite = (name: string): ControlOptions => ({ engine: 'sqlite', path: join(directory, name) });
    await measure('SQLite, in the thread that has it', await openHere(sqlite('here.db')), options, print);
    await measure('SQLite, from another thread', await openThere(sqlite('there.db')), options, print);
  });
  if (postgres === undefined) return;
  const there = await openThere({ engine: 'postgres', url: postgres, connections: 10 });
  await measure('PostgreSQL, from another thread', there, options, print);
}

async function openHere(options: ControlOptions): Promise<Opened> {
  const parts = { clock: systemClock, logger: componentSettings('bench').logger };
  const controlStore = await openControl(options, parts);
  return { controlStore, close: () => controlStore.close() };
}

async function openThere(options: ControlOptions): Promise<Opened> {
  const controlStore = new ControlExtension(componentSettings('bench'), options);
  await controlStore.start(HOST);
  return { controlStore, close: () => controlStore.shutdown(AbortSignal.timeout(10_000)) };
}

async function measure(
  title: string,
  opened: Opened,
  { calls, together }: ControlBenchOptions,
  print: Print,
): Promise<void> {
  print(`\n${title}, ms`);
  const rows: string[][] = [];
  for (const [name, call] of Object.entries(await kindsOf(opened.controlStore))) {
    for (let i = 0; i < WARMUP; i++) await call(i);
    const one = new LatencyRecorder();
    const before = process.cpuUsage();
    for (let i = 0; i < calls; i++) await timed(one, () => call(WARMUP + i));
    const { user, system } = process.cpuUsage(before);
    const many = new LatencyRecorder();
    const from = performance.now();
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < calls) await timed(many, () => call(WARMUP + calls + next++));
    };
    await Promise.all(Array.from({ length: together }, lane));
    const perSecond = Math.round((calls / (performance.now() - from)) * 1000);
    const [alone, beside] = [one.summary(), many.summary()];
    const times = [alone.p50, alone.p99, (user + system) / 1000 / calls, beside.p50, beside.p99];
    rows.push([name, ...times.map(fine), String(perSecond)]);
  }
  print(table(['', 'p50', 'p99', 'CPU', `p50 of ${together} at once`, 'p99', 'a second'], rows));
  await opened.close();
}

async function timed(latencies: LatencyRecorder, call: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  await call();
  latencies.record(performance.now() - from);
}

function fine(value: number): string {
  return value < 1 ? value.toFixed(2) : ms(value);
}

async function kindsOf(controlStore: ControlStore): Promise<Readonly<Record<string, Call>>> {
  const user = aUser();
  const key = aKey(user);
  const organization = anOrganization('bench');
  await controlStore.accounts.bootstrap({ user, organization, key });
  await controlStore.endpoints.create(organization.slug, anEndpoint());
  const now = systemClock.now();
  let last = 0;
  const some = () =>
    Array.from({ length: EVENTS }, () =>
      anEvent(last++, 'trace.failed', { error_message: 'what went wrong' }),
    );
  const claimed: (readonly DeliveryClaim[])[] = [];
  return {
    'find a key': () => controlStore.accounts.findKey(key.digest),
    [`append ${EVENTS} facts`]: (number) =>
      controlStore.events.append(
        some().map((event) => ({ fact: event.id, tenant: user.id, event })),
        { source: 'bench', mark: String(number) },
      ),
    [`enqueue ${EVENTS} events`]: () =>
      controlStore.deliveries.enqueue(
        some().map((event) => ({ tenant: user.id, event })),
        now,
      ),
    [`claim ${CLAIMS}`]: async () => {
      const limit = { limit: CLAIMS, perEndpoint: Infinity, perOrganization: Infinity, perHost: Infinity };
      const { claims } = await controlStore.deliveries.claim({ ...limit, now, leaseMs: LEASE_MS });
      claimed.push(claims);
    },
    [`finish ${CLAIMS}`]: async () => {
      const results = (claimed.pop() ?? []).map(({ delivery_id, attempt }) => ({
        delivery_id,
        attempt,
        succeeded: true,
        statusCode: 200,
        responseBody: 'ok',
        durationMs: 12,
        error: null,
        retryAt: null,
        isGone: false,
      }));
      await controlStore.deliveries.finish(results, { ...RULES, now });
    },
    ...kindsOfWrites(controlStore, now),
    'take a lease': (number) => controlStore.leases.take(`lease ${String(number % 100)}`, 'bench', LEASE_MS),
  };
}

/** What a write to a store of telemetry needs that several processes write to. */
function kindsOfWrites({ writes, agents }: ControlStore, at: Micros): Readonly<Record<string, Call>> {
  const tenants = Array.from({ length: USERS }, (_, tenant) => tenant);
  const traces = Array.from({ length: TRACES }, (_, i) => ({ tenant: i % USERS, traceId: randomUUID() }));
  const charges = tenants.map((tenant) => ({ tenant, at, items: 100, isExact: false, limit: 1e12 }));
  const items = tenants.map((tenant) => ({ tenant, at, items: 90 }));
  const runs = traces.map(({ tenant }, i) => ({ tenant, name: `agent ${i % 50}`, at, comesIntoBeing: true }));
  const begun: OpenWrite[] = [];
  const begin = async (): Promise<OpenWrite> => {
    const { write } = await writes.begin({
      store: 'bench',
      owner: 'bench',
      leaseMs: LEASE_MS,
      traces,
      charges,
    });
    return invariant(write, 'write');
  };
  return {
    [`begin a write of ${TRACES} traces`]: async () => begun.push(await begin()),
    'take its ticket': (number) => writes.fence(itemAt(begun, number)),
    'finish it': (number) => writes.finish(itemAt(begun, number), items),
    'all three': async () => {
      const write = await begin();
      await writes.fence(write);
      await writes.finish(write, items);
    },
    [`number the agents of ${TRACES} runs`]: () => agents.number('bench', runs, 1000),
  };
}
