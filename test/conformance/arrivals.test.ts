import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { aLog } from '../support/log-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };

function checkArrivals(t: Test, open: OpenTelemetry): void {
  void t.test("notifies listeners of a user's runs and log records after they are stored", async (t) => {
    const opened = await open(t);
    const { arrivals, writer, runs } = opened.store;
    const [user, other] = [await opened.addUser(), await opened.addUser()];
    const notices: unknown[] = [];
    const pending: Promise<void>[] = [];
    const end = arrivals.watch(user.toUpperCase(), {
      traces: (ids) => {
        notices.push([...ids]);
        // Reported runs are readable.
        pending.push(
          (async () => {
            const found = [];
            for await (const page of runs.find(user, [...ids, randomUUID()])) found.push(...page);
            notices.push(found.map(({ trace_id, success }) => ({ trace_id, success })));
          })(),
        );
      },
      logs: (records) => {
        const bodies = records.map(({ body }) => body);
        return () => {
          notices.push(bodies);
        };
      },
    });
    const trace = aHeader({ success: null });
    const write = async (tenant: string) =>
      await writer.traces(
        {
          tenant,
          items: [trace, trace].map((each) => ({ trace: each, spans: [aSpanRecord(trace.trace_id)] })),
        },
        RECEIVED,
      );
    await write(other);
    await writer.logs({ tenant: other, items: [aLog()] }, RECEIVED);
    t.strictSame(notices, [], 'nothing of other users');
    await write(user);
    await writer.logs({ tenant: user, items: [aLog({ body: 'a' }), aLog({ body: 'b' })] }, RECEIVED);
    await runs.setOutcome(user, trace.trace_id.toUpperCase(), { success: true });
    await runs.setOutcome(user, randomUUID(), { success: true });
    await Promise.all(pending);
    const { trace_id } = trace;
    t.strictSame(
      notices.filter((each) => !JSON.stringify(each).includes('"success"')),
      [[trace_id], ['a', 'b'], [trace_id]],
    );
    t.match(notices.at(-1), [{ trace_id, success: true }]);
    end();
    await write(user);
    await writer.logs({ tenant: user, items: [aLog()] }, RECEIVED);
    t.equal(notices.length, 5, 'no more after unwatching');
    // Rejected items are not reported.
    arrivals.watch(user, { logs: () => () => notices.push('never'), traces: () => notices.push('never') });
    await opened.reopen();
    await t.rejects(writer.logs({ tenant: user, items: [aLog()] }, RECEIVED));
    await t.rejects(write(user));
    t.notOk(notices.includes('never'));
  });
}

await onEveryTelemetry(t, checkArrivals);
