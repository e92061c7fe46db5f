import type { Evidence, Observing, Target, TargetStats } from '../../../src/storage/contracts/alerts.js';
import { deriveBatch } from '../../../src/signal/derive-map.js';
import type { Micros } from '../../../src/signal/time.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { DAY, NOON } from '../../support/run-records.js';
import type { TestStore } from './test-store.js';

export const HOUR = DAY / 24;

/** The hour before noon, and the day around noon. */
export const AT_NOON: Observing = {
  now: NOON,
  windowStart: NOON - HOUR,
  days: [{ from: NOON - DAY / 2, to: NOON + DAY / 2 }],
  targets: [],
  metrics: [],
  pointsStart: NOON - 300_000_000,
};

/** Stores traces with their service map. */
export async function receive(
  { store }: TestStore,
  tenant: string,
  items: TraceRecord[],
  receivedAt: Micros = NOON,
): Promise<void> {
  await store.writer.traces({ tenant, items, service_map: deriveBatch(items) }, { receivedAt });
}

/** All stats of one target. */
export async function observeOne(
  { store }: TestStore,
  target: Target,
  request: Partial<Observing> = {},
  since: readonly Evidence[] = [],
): Promise<TargetStats> {
  const targets = [{ target, runs: true, cost: true, activity: true, since }];
  const observed = await store.stats.observe({ ...AT_NOON, ...request, targets });
  const [stats] = observed.targets;
  if (stats === undefined) throw new Error('the store returned nothing for a target');
  return stats;
}

/** The target of an agent by name. */
export async function agentOf({ store }: TestStore, userId: string, name: string): Promise<Target> {
  const agent = (await store.agents.list(userId)).find((known) => known.name === name);
  if (agent === undefined) throw new Error(`no agent is called ${name}`);
  return { userId, agentId: agent.id };
}
