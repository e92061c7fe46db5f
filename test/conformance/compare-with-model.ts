import { deepStrictEqual } from 'node:assert/strict';
import type { AgentSummary, RunFilter } from '../../src/storage/contracts/runs.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';
import type { ModelAgent, StoreModel } from '../storage/duckdb/store-model.js';
import { spansOf, without } from '../storage/duckdb/shown-spans.js';

/** The inputs of a comparison. */
export interface Questions {
  /** Ids to read, known and unknown. */
  readonly traceIds: readonly string[];
  readonly filters: readonly (RunFilter & { readonly agent?: string })[];
  readonly pageSize: number;
}

/**
 * Reads everything about one tenant from a store and compares it with the model.
 *
 * @param agentIds known ids by name; new ones are added, and none may change
 * @throws AssertionError at the first difference
 */
export async function compareWithModel(
  store: Pick<TelemetryStore, 'runs' | 'agents'>,
  tenant: string,
  model: StoreModel,
  agentIds: Map<string, string>,
  { traceIds, filters, pageSize }: Questions,
): Promise<void> {
  await compareAgents(store, tenant, model, agentIds);
  for (const traceId of traceIds) {
    const found = await store.runs.read(tenant, traceId);
    const expected = model.run(traceId);
    if (found === null || expected === null) {
      deepStrictEqual(found, expected, `whether trace ${traceId} is there`);
      continue;
    }
    const { agent_id, metadata, spans, ...run } = found;
    deepStrictEqual(run, expected);
    deepStrictEqual(agent_id, agentIds.get(expected.agent_name));
    deepStrictEqual(metadata, plain(model.traces.get(traceId)?.header.metadata));
    deepStrictEqual(await spansOf({ spans }), plain(model.spans(traceId)));
  }
  for (const { agent, ...filter } of filters) {
    const agentId = agent === undefined ? undefined : agentIds.get(agent);
    if (agent !== undefined && agentId === undefined) continue;
    const all = model.runs(filter, agent);
    for (let offset = 0; offset === 0 || offset < all.length + pageSize; offset += pageSize) {
      const page = await store.runs.list(
        tenant,
        { ...filter, ...(agentId === undefined ? {} : { agent_id: agentId }) },
        { offset, limit: pageSize },
      );
      deepStrictEqual(page.count, all.length, `count of ${JSON.stringify(filter)}`);
      deepStrictEqual(
        page.items.map(({ agent_id, ...run }) => {
          deepStrictEqual(agent_id, agentIds.get(run.agent_name));
          return run;
        }),
        all.slice(offset, offset + pageSize),
      );
    }
  }
}

async function compareAgents(
  store: Pick<TelemetryStore, 'runs' | 'agents'>,
  tenant: string,
  model: StoreModel,
  agentIds: Map<string, string>,
): Promise<void> {
  const expected = model.agentList();
  const found = await store.agents.list(tenant);
  deepStrictEqual(
    found.map((agent) => agent.name),
    expected.map((agent) => agent.name),
    'agents by last run, then name',
  );
  for (const [i, agent] of found.entries()) {
    deepStrictEqual(agentIds.get(agent.name) ?? agent.id, agent.id, 'an agent keeps its id');
    agentIds.set(agent.name, agent.id);
    deepStrictEqual(withoutId(agent), withoutPercentile(expected[i]));
    deepStrictEqual(await store.agents.read(tenant, agent.id), agent);
    same(await store.agents.estimate(tenant, agent.id), model.estimate(agent.name));
    for (const [from, to] of [
      [-9e15, 9e15],
      [(agent.last_run_at ?? 0) - 86_400_000_000, agent.last_run_at ?? 0],
    ] as const) {
      const days = await store.agents.days(tenant, agent.id, { from, to });
      deepStrictEqual(days?.name, agent.name);
      same(days.days, model.days(agent.name, from, to));
    }
  }
  const ids = found.map((agent) => agent.id).reverse();
  const compared = await store.agents.compare(tenant, ids);
  same(compared?.map(withoutId), [...expected].reverse());
  deepStrictEqual(await store.agents.compare(tenant, [...ids, '00000000-0000-4000-8000-00000000dead']), null);
}

function withoutId<T extends AgentSummary>(agent: T): Omit<T, 'id'> {
  return without(agent, 'id');
}

function withoutPercentile(agent: ModelAgent | undefined): Omit<ModelAgent, 'p95_latency_ms'> | undefined {
  return agent === undefined ? undefined : without(agent, 'p95_latency_ms');
}

/** Equality that ignores the last digits of means and percentiles. */
function same(found: unknown, expected: unknown): void {
  deepStrictEqual(rounded(found), rounded(expected));
}

function rounded(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (_, inner: unknown) =>
      typeof inner === 'number' ? Number(inner.toPrecision(11)) : inner,
    ),
  );
}

/** The value after a JSON round trip, without negative zero. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}
