import fc from 'fast-check';
import t from 'tap';
import type { TraceHeader } from '../../src/signal/trace.js';
import type { RunFilter } from '../../src/storage/telemetry-store.js';
import { EventEngine } from '../events/event-engine.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, NOON } from '../support/run-records.js';
import { TestStore } from './test-store.js';
import { queriesDuring } from './watched-statements.js';

t.setTimeout(0);

const AGENTS = ['Mail', 'post', 'archive'] as const;
const TEXTS = [null, 'Timed OUT', 'out of time', 'ÜBER-lang', '50% of_it', "it's \\ out", ''] as const;

/** What the store must give: looked for among all runs. */
function listOf(runs: readonly TraceHeader[], { query, status, start_time }: RunFilter): string[] {
  const wanted = query?.toLowerCase() ?? '';
  return runs
    .filter((run) =>
      [run.agent, run.outcome, run.error_message].some((text) => text?.toLowerCase().includes(wanted)),
    )
    .filter((run) => status === undefined || run.status === status)
    .filter((run) => run.started_at >= (start_time ?? -Infinity))
    .sort((a, b) => b.started_at - a.started_at || (a.trace_id < b.trace_id ? 1 : -1))
    .map((run) => run.trace_id);
}

const run = fc.record({
  agent: fc.constantFrom(...AGENTS),
  outcome: fc.constantFrom(...TEXTS),
  error: fc.constantFrom(...TEXTS),
  status: fc.constantFrom('completed' as const, 'failed' as const, 'running' as const),
  /** Commits overlap in time, and some runs are at the same time. */
  at: fc.nat(12),
});
const asked = fc.record({
  query: fc.constantFrom('OUT', 'timed', 'über', '%', '_', '\\', 'ai', 'nowhere', 'e'),
  status: fc.option(fc.constantFrom('completed' as const, 'failed' as const), { nil: undefined }),
  since: fc.option(fc.nat(12), { nil: undefined }),
  offset: fc.nat(8),
  limit: fc.integer({ min: 1, max: 5 }),
});

void t.test('lists of runs that a text is in are what all runs give, page by page', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 12, bytes: 1e9 } });
  await neverDiffers(
    t,
    { runs: 20, ms: 8000 },
    [
      fc.array(fc.array(run, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 15 }),
      fc.array(asked, { minLength: 4, maxLength: 10 }),
    ],
    async (commits, questions) => {
      const user = await opened.addUser();
      const runs: TraceHeader[] = [];
      for (const [i, commit] of commits.entries()) {
        const made = commit.map(({ agent, outcome, error, status, at }) =>
          aHeader({ agent, outcome, error_message: error, status, started_at: NOON + (at + i) * 1000 }),
        );
        runs.push(...made);
        const items = made.map((trace) => ({ trace, spans: [] }));
        await opened.store.writeTraces({ tenant: user, items }, { receivedAt: NOON });
        // A newer version of an earlier one, which is found where that lies.
        const earlier = runs[i];
        if (earlier !== undefined && i % 3 === 0) {
          const outcome = TEXTS[i % TEXTS.length] ?? 'none';
          await opened.store.setOutcome(user, earlier.trace_id, { success: true, outcome });
          runs[i] = { ...earlier, outcome };
        }
      }
      for (const { query, status, since, offset, limit } of questions) {
        const filter: RunFilter = {
          query,
          ...(status === undefined ? {} : { status }),
          ...(since === undefined ? {} : { start_time: NOON + since * 1000 }),
        };
        const { items, count } = await opened.store.listRuns(user, filter, { offset, limit });
        const expected = listOf(runs, filter);
        same(
          { ids: items.map(({ trace_id }) => trace_id), count },
          { ids: expected.slice(offset, offset + limit), count: expected.length },
        );
      }
    },
  );
});

void t.test('runs that do not exist are looked for once', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const user = await engine.addUser(null);
  const items = [{ trace: aHeader({ outcome: 'sent' }), spans: [] }];
  await engine.write(user, items, NOON);
  const { database, runs } = engine.parts;
  const queriesOf = async (query: string, count: number): Promise<number> => {
    const queries = await queriesDuring(database, async () => {
      const found = await runs.list(engine.read, user.tenant, { query }, { offset: 0, limit: 20 });
      t.equal(found.count, count, query);
    });
    return queries.length;
  };
  t.equal(await queriesOf('nowhere', 0), 2, 'where they may be, and where they are');
  t.equal(await queriesOf('SENT', 1), 4, 'likewise, which of them are shown, and these');
});
