import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import type { Micros } from '../../../../src/signal/time.js';
import type { Observing, Target, TargetStats } from '../../../../src/storage/contracts/alerts.js';
import { neverDiffers, same } from '../../../support/property.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../../../support/run-records.js';
import { ObservedOracle, type OracleStats } from './observed-oracle.js';
import { playSteps } from '../play-steps.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

const SECOND = 1_000_000;
const HOUR = 3600 * SECOND;
const AGENTS = ['planner', 'writer', 'both'];
/** The last one shares its name with an agent; the agent is observed then. */
const NODES = ['billing', 'search', 'both'];
const TRACES = 8;
const SPANS = 2;

const tenant = fc.constantFrom(0 as const, 1 as const);
const trace = fc.nat(TRACES - 1);
const status = fc.constantFrom(
  'running' as const,
  'completed' as const,
  'failed' as const,
  'timed_out' as const,
);
const microseconds = fc.integer({ min: 0, max: 2 * HOUR });
const cost = fc.constantFrom(0, 1, 333_333, 1_005_000_000, 999_999_999_999_999);

const span = fc.record({
  status,
  node: fc.constantFrom(...NODES),
  ago: microseconds,
  duration: fc.option(microseconds),
  cost: fc.option(cost),
});

const message = fc.record({
  is: fc.constant('message' as const),
  tenant,
  trace,
  agent: fc.constantFrom(...AGENTS),
  status,
  /** Some start after they were received. */
  ago: fc.integer({ min: -60 * SECOND, max: 2 * HOUR }),
  duration: fc.option(microseconds),
  success: fc.option(fc.boolean()),
  cost,
  spans: fc.array(fc.option(span), { minLength: SPANS, maxLength: SPANS }),
});
type Message = typeof message extends fc.Arbitrary<infer Value> ? Value : never;

const outcome = fc.record({ is: fc.constant('outcome' as const), tenant, trace, success: fc.boolean() });
const restart = fc.record({ is: fc.constant('restart' as const) });
const wait = fc.record({ is: fc.constant('wait' as const), time: fc.integer({ min: 1, max: HOUR }) });
const change = fc.oneof({ weight: 6, arbitrary: message }, { weight: 3, arbitrary: outcome }, wait);
const step = fc.oneof(
  { weight: 12, arbitrary: fc.array(change, { minLength: 1, maxLength: 5 }) },
  { weight: 1, arbitrary: fc.tuple(restart) },
  { weight: 6, arbitrary: fc.constantFrom('settle' as const, 'look' as const) },
);

/** The trace and span ids of one scenario. */
class Ids {
  readonly #ids = new Map<string, string>();

  of(...place: readonly number[]): string {
    const key = place.join('/');
    const id = this.#ids.get(key) ?? randomUUID();
    this.#ids.set(key, id);
    return id;
  }
}

function recordOf(sent: Message, ids: Ids, now: Micros): TraceRecord {
  const traceId = ids.of(sent.tenant, sent.trace);
  const started = now - sent.ago;
  const isOver = sent.status !== 'running' && sent.duration !== null;
  const spans = sent.spans.flatMap((made, i) => {
    if (made === null) return [];
    const startedAt = now - made.ago;
    const hasEnd = made.status !== 'running' && made.duration !== null;
    return aSpanRecord(traceId, {
      span_id: ids.of(sent.tenant, sent.trace, i),
      type: 'http',
      status: made.status,
      started_at: startedAt,
      ended_at: hasEnd ? Math.min(now, startedAt + (made.duration ?? 0)) : null,
      cost_usd: made.cost,
      metadata: { 'peer.service': made.node },
    });
  });
  return {
    trace: aHeader({
      trace_id: traceId,
      agent: sent.agent,
      status: sent.status,
      started_at: started,
      ended_at: isOver ? started + (sent.duration ?? 0) : null,
      success: sent.success,
      total_cost_usd: sent.cost,
    }),
    spans,
  };
}

/** The last bits of a percentile depend on its computation. */
function comparable({ window, costs, activeAt }: TargetStats | OracleStats): unknown {
  if (window === null) return null;
  const { finished, failed, timed, p95_ms } = window;
  const p95 = p95_ms === null ? null : p95_ms.toFixed(6);
  return { finished, failed, timed, p95, costs, activeAt };
}

void t.test('alert stats match a model wherever the rows are stored', async (t) => {
  const opened = await TestStore.open(t);
  let now = NOON;
  let looks = 0;
  await neverDiffers(
    t,
    { runs: 40, ms: 2500 },
    [fc.array(step, { minLength: 1, maxLength: 12 })],
    async (steps) => {
      const users = [await opened.addUser(), await opened.addUser()] as const;
      const oracles = [new ObservedOracle(), new ObservedOracle()] as const;
      const ids = new Ids();
      const look = async (): Promise<void> => {
        looks++;
        const request = {
          now,
          windowStart: now - HOUR,
          days: [dayOf(now), dayOf(now - DAY)],
          pointsStart: now,
          metrics: [],
        };
        const expected: OracleStats[] = [];
        const targets: Target[] = [];
        for (const i of [0, 1] as const) {
          const agents = await opened.store.agents.list(users[i]);
          const names = new Set(agents.map(({ name }) => name));
          const asked: Observing = { ...request, targets: [] };
          for (const { id, name } of agents) {
            targets.push({ userId: users[i], agentId: id });
            expected.push(oracles[i].agent(name, asked));
          }
          for (const service of NODES) {
            const isAgent = names.has(service);
            const stats = isAgent ? oracles[i].agent(service, asked) : oracles[i].node(service, asked);
            // A node without spans is unknown.
            if (!isAgent && stats.activeAt === null) continue;
            targets.push({ userId: users[i], service });
            expected.push(stats);
          }
        }
        const wanted = targets.map((target) => ({ target, runs: true, cost: true, activity: true }));
        const { targets: found } = await opened.store.stats.observe({ ...request, targets: wanted });
        same(found.map(comparable), expected.map(comparable));
      };
      await playSteps(opened, steps, {
        look,
        write: async (changes) => {
          for (const made of changes) {
            if (made.is === 'wait') now += made.time;
            else if (made.is === 'restart') {
              await opened.reopen();
              for (const oracle of oracles) oracle.restart();
            } else if (made.is === 'outcome') {
              const id = ids.of(made.tenant, made.trace);
              await opened.store.runs.setOutcome(users[made.tenant], id, { success: made.success });
              oracles[made.tenant].setOutcome(id, made.success);
            } else {
              const items = [recordOf(made, ids, now)];
              const batch = { tenant: users[made.tenant], items, service_map: deriveBatch(items) };
              await opened.store.writer.traces(batch, { receivedAt: now });
              for (const item of items) oracles[made.tenant].receive(item, now);
            }
          }
        },
      });
      await look();
    },
  );
  t.comment(`${looks} looks`);
  t.same(opened.statuses, []);
});

function dayOf(time: Micros): { readonly from: Micros; readonly to: Micros } {
  const from = Math.floor(time / DAY) * DAY;
  return { from, to: from + DAY };
}
