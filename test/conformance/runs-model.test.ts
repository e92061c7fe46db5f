import fc from 'fast-check';
import t, { type Test } from 'tap';
import { compareWithModel } from './compare-with-model.js';
import { StoreModel } from '../storage/duckdb/store-model.js';
import { filters, script, TRACE_IDS, type Change } from '../storage/duckdb/store-scripts.js';
import { neverDiffers, same } from '../support/property.js';
import { NOON } from '../support/run-records.js';
import { playSteps } from '../storage/duckdb/play-steps.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

function checkRuns(t: Test, open: OpenTelemetry): void {
  void t.test('runs and agents match an in-memory model in any order', async (t) => {
    const opened = await open(t);
    let now = NOON;
    await neverDiffers(
      t,
      { runs: 60, ms: 2000 },
      [script, filters, fc.integer({ min: 1, max: 4 })],
      async (steps, asked, pageSize) => {
        // New tenants instead of a new store: files grow, are sealed and compacted across runs.
        const tenants = [await opened.addUser(), await opened.addUser()] as const;
        // Changes of known users are applied in call order.
        for (const tenant of tenants) await opened.store.agents.list(tenant);
        const models = [new StoreModel(), new StoreModel()] as const;
        const agentIds = [new Map<string, string>(), new Map<string, string>()] as const;
        const apply = async (change: Change, receivedAt: number): Promise<void> => {
          const model = models[change.tenant];
          const tenant = tenants[change.tenant];
          if ('items' in change) {
            model.write(change.items, receivedAt);
            const receipt = await opened.store.writer.traces(
              { tenant, items: [...change.items] },
              { receivedAt },
            );
            same(receipt, { accepted: change.items.length, refused: [] });
          } else {
            const expected = model.setOutcome(change.traceId, change.change);
            same(await opened.store.runs.setOutcome(tenant, change.traceId, change.change), expected);
          }
        };
        const look = async (): Promise<void> => {
          await opened.caughtUp();
          for (const i of [0, 1] as const) {
            await compareWithModel(opened.store, tenants[i], models[i], agentIds[i], {
              traceIds: TRACE_IDS,
              filters: [{}, ...asked],
              pageSize,
            });
          }
        };
        await playSteps(opened, steps, {
          look,
          write: async (changes) => {
            // Which of several batches in one commit created an agent is undefined.
            const receivedAt = ++now;
            await Promise.all(changes.map((change) => apply(change, receivedAt)));
          },
        });
        await look();
      },
    );
    t.same(opened.statuses, []);
  });
}

await onEveryTelemetry(t, checkRuns);
