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
import { withTempDirectory } from './bench-directory.js';
import { LatencyRecorder } from './latency-recorder.js';
import { ms, printSetup, table, type Print } from './report.js';

const EVENTS = 100;
const CLAIMS = 32;
/** Traces of one write to the telemetry store. */
const TRACES = 1000;
const USERS = 10;
const LEASE_MS = 600_000;
const RULES = { breakerThreshold: 1000 };
/** Calls of each kind before the measurement. */
const WARMUP = 50;
const HOST = { reportStatus: () => undefined } as unknown as Parameters<ControlExtension['start']>[0];

export interface ControlBenchOptions {
  /** Calls to measure, per kind. */
  readonly calls: number;
  /** Number of concurrent calls in the second half. */
  readonly together: number;
  /** URL of an empty database to measure as well. */
  readonly postgres?: string;
}

interface OpenedStore {
  readonly controlStore: ControlStore;
  close(): Promise<void>;
}

/** @param number number of the call, from 0 */
type Call = (number: number) => Promise<unknown>;

/** `npm run bench -- control`: latency and CPU time of control store calls, in the store's own thread and from another thread. */
export async function control(options: ControlBenchOptions, print: Print): Promise<void> {
  const { postgres, ...shown } = options;
  printSetup(print, 'control', { ...shown, postgres: postgres !== undefined });
  await withTempDirectory(async (directory) => {
    const sqlite = (name: string): ControlOptions => ({ engine: 'sqlite', path: join(directory, name) });
    await measure('SQLite, same thread', await openInSameThread(sqlite('same-thread.db')), options, print);
    await measure('SQLite, other thread', await openInWorker(sqlite('other-thread.db')), options, print);
  });
  if (postgres === undefined) return;
  const worker = await openInWorker({ engine: 'postgres', url: postgres, connections: 10 });
  await measure('PostgreSQL, other thread', worker, options, print);
}

async function openInSameThread(options: ControlOptions): Promise<OpenedStore> {
  const parts = { clock: systemClock, logger: componentSettings('bench').logger };
  const controlStore = await openControl(options, parts);
  return { controlStore, close: () => controlStore.close() };
}

async function openInWorker(options: ControlOptions): Promise<OpenedStore> {
  const controlStore = new ControlExtension(componentSettings('bench'), options);
  await controlStore.start(HOST);
  return { controlStore, close: () => controlStore.shutdown(AbortSignal.timeout(10_000)) };
}

async function measure(
  title: string,
  opened: OpenedStore,
  { calls, together }: ControlBenchOptions,
  print: Print,
): Promise<void> {
  print(`\n${title}, ms`);
  const rows: string[][] = [];
  for (const [name, call] of Object.entries(await callsOf(opened.controlStore))) {
    for (let i = 0; i < WARMUP; i++) await call(i);
    const one = new LatencyRecorder();
    const before = process.cpuUsage();
    for (let i = 0; i < calls; i++) await timed(one, () => call(WARMUP + i));
    const { user, system } = process.cpuUsage(before);
    const many = new LatencyRecorder();
    const from = performance.now();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < calls) await timed(many, () => call(WARMUP + calls + next++));
    };
    await Promise.all(Array.from({ length: together }, worker));
    const perSecond = Math.round((calls / (performance.now() - from)) * 1000);
    const [alone, concurrent] = [one.summary(), many.summary()];
    const times = [alone.p50, alone.p99, (user + system) / 1000 / calls, concurrent.p50, concurrent.p99];
    rows.push([name, ...times.map(formatMs), String(perSecond)]);
  }
  print(table(['', 'p50', 'p99', 'CPU', `p50 of ${together} at once`, 'p99', 'per second'], rows));
  await opened.close();
}

async function timed(latencies: LatencyRecorder, call: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  await call();
  latencies.record(performance.now() - from);
}

function formatMs(value: number): string {
  return value < 1 ? value.toFixed(2) : ms(value);
}

async function callsOf(controlStore: ControlStore): Promise<Readonly<Record<string, Call>>> {
  const user = aUser();
  const key = aKey(user);
  const organization = anOrganization('bench');
  await controlStore.accounts.bootstrap({ user, organization, key });
  await controlStore.endpoints.create(organization.slug, anEndpoint());
  const now = systemClock.now();
  let nextEvent = 0;
  const newEvents = () =>
    Array.from({ length: EVENTS }, () =>
      anEvent(nextEvent++, 'trace.failed', { error_message: 'no answer in 60 s' }),
    );
  const claimed: (readonly DeliveryClaim[])[] = [];
  return {
    'find a key': () => controlStore.accounts.findKey(key.digest),
    [`append ${EVENTS} facts`]: (number) =>
      controlStore.events.append(
        newEvents().map((event) => ({ fact: event.id, tenant: user.id, event })),
        { source: 'bench', mark: String(number) },
      ),
    [`enqueue ${EVENTS} events`]: () =>
      controlStore.deliveries.enqueue(
        newEvents().map((event) => ({ tenant: user.id, event })),
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
    ...writeCalls(controlStore, now),
    'take a lease': (number) => controlStore.leases.take(`lease ${String(number % 100)}`, 'bench', LEASE_MS),
  };
}

/** The calls around a write to a shared telemetry store. */
function writeCalls({ writes, agents }: ControlStore, at: Micros): Readonly<Record<string, Call>> {
  const tenants = Array.from({ length: USERS }, (_, tenant) => tenant);
  const traces = Array.from({ length: TRACES }, (_, i) => ({ tenant: i % USERS, traceId: randomUUID() }));
  const charges = tenants.map((tenant) => ({ tenant, at, items: 100, isExact: false, limit: 1e12 }));
  const items = tenants.map((tenant) => ({ tenant, at, items: 90 }));
  const runs = traces.map(({ tenant }, i) => ({ tenant, name: `agent ${i % 50}`, at, comesIntoBeing: true }));
  const open: OpenWrite[] = [];
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
    [`begin a write of ${TRACES} traces`]: async () => open.push(await begin()),
    'fence it': (number) => writes.fence(itemAt(open, number)),
    'finish it': (number) => writes.finish(itemAt(open, number), items),
    'begin, fence and finish': async () => {
      const write = await begin();
      await writes.fence(write);
      await writes.finish(write, items);
    },
    [`intern the agents of ${TRACES} runs`]: () => agents.number('bench', runs, 1000),
  };
}
