import { money } from './store-model.js';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Prompts } from '../../../src/storage/contracts/prompts.js';
import type { RunSummary } from '../../../src/storage/contracts/runs.js';
import type { TelemetryStore } from '../../../src/storage/contracts/telemetry-store.js';
import { NOON } from '../../support/run-records.js';

/** Ids of the linked traces by prompt version. */
export type Linked = Map<string, Set<string>>;

export function linkedKey(name: string, version: number): string {
  return JSON.stringify([name, version]);
}

export async function addPrompts(
  prompts: Prompts,
  userId: string,
  names: readonly string[],
  versions: readonly number[],
): Promise<void> {
  for (const name of names) {
    for (const version of versions) {
      await prompts.create(userId, {
        id: randomUUID(),
        name,
        version,
        type: 'text',
        template_text: `${name} ${version}`,
        description: null,
        is_active: true,
        created_at: NOON,
      });
    }
  }
}

/** Compares the stats of every prompt with the listed runs. @throws AssertionError */
export async function compareWithRuns(
  store: Pick<TelemetryStore, 'prompts' | 'runs'>,
  tenant: string,
  names: readonly string[],
  linked: Linked,
): Promise<void> {
  const { items } = await store.runs.list(tenant, {}, { offset: 0, limit: 1_000_000 });
  for (const name of names) {
    const found = await store.prompts.compare(tenant, name);
    assert.ok(found);
    const versions = found.map(({ version }) => version);
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => b - a),
    );
    for (const stats of found) {
      const ids = linked.get(linkedKey(name, stats.version)) ?? new Set();
      const runs = items.filter(({ trace_id }) => ids.has(trace_id));
      const expected = { version: stats.version, ...statsOf(runs) };
      assert.deepEqual(rounded(stats), rounded(expected), linkedKey(name, stats.version));
    }
  }
  assert.equal(await store.prompts.compare(tenant, 'nobody’s'), null);
}

function statsOf(runs: readonly RunSummary[]): object {
  const costs = runs.flatMap(({ total_cost_usd }) => total_cost_usd ?? []);
  const durations = runs.flatMap(({ duration_ms }) => duration_ms ?? []);
  return {
    total_traces: runs.length,
    success_count: runs.filter(({ success }) => success === true).length,
    failure_count: runs.filter(({ success }) => success === false).length,
    avg_cost: costs.length === 0 ? null : money(costs) / costs.length,
    avg_latency_ms: mean(durations),
    p95_latency_ms: p95(durations),
  };
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Linear interpolation between order statistics. */
function p95(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (sorted.length - 1) * 0.95;
  const lower = sorted[Math.floor(rank)] ?? 0;
  const upper = sorted[Math.ceil(rank)] ?? 0;
  return lower + (upper - lower) * (rank - Math.floor(rank));
}

/** Drops the last digits, which depend on the summation order. */
function rounded(stats: object): object {
  return Object.fromEntries(
    Object.entries(stats).map(([key, value]: [string, unknown]) => [
      key,
      typeof value === 'number' ? Number(value.toPrecision(12)) : value,
    ]),
  );
}
