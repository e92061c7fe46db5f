import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import type { RunFilter } from '../../src/storage/contracts/runs.js';
import { spansOf } from '../storage/duckdb/shown-spans.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, aTrace, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const ALL = { offset: 0, limit: 100 };

const AGENTS = ['Mail', 'post', 'archive'] as const;
const TEXTS = [null, 'Timed OUT', 'out of time', 'ÜBER-lang', '50% of_it', "it's \\ out", ''] as const;

/** The expected list, computed from all runs. */
function listOf(
  runs: readonly TraceHeader[],
  { status, start_time, session_id, user_id, tag }: RunFilter,
): string[] {
  return runs
    .filter(({ metadata }) => session_id === undefined || metadata?.session_id === session_id)
    .filter(({ metadata }) => user_id === undefined || metadata?.user_id === user_id)
    .filter(
      ({ metadata }) => tag === undefined || (metadata?.tags as string[] | null)?.includes(tag) === true,
    )
    .filter((run) => status === undefined || run.status === status)
    .filter((run) => run.started_at >= (start_time ?? -Infinity))
    .sort((a, b) => b.started_at - a.started_at || (a.trace_id < b.trace_id ? 1 : -1))
    .map((run) => run.trace_id);
}

const SESSIONS = ['s', "it's \n 1", 'Größe/%2F'] as const;
const TAGS = ['a', 'b"', "c's"] as const;
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const run = fc.record({
  session_id: fc.option(fc.constantFrom(...SESSIONS)),
  user_id: fc.option(fc.constantFrom('u', 'v')),
  tags: fc.option(fc.subarray([...TAGS], { minLength: 1 })),
  agent: fc.constantFrom(...AGENTS),
  outcome: fc.constantFrom(...TEXTS),
  error: fc.constantFrom(...TEXTS),
  status: fc.constantFrom('completed' as const, 'failed' as const, 'running' as const),
  /** Commits overlap in time, and some runs share a time. */
  at: fc.nat(12),
});
const asked = fc.record({
  session: maybe(fc.constantFrom(...SESSIONS, 'nobody')),
  forUser: maybe(fc.constantFrom('u', 'U')),
  oldestFirst: fc.boolean(),
  tag: maybe(fc.constantFrom(...TAGS, 'a"')),
  status: fc.option(fc.constantFrom('completed' as const, 'failed' as const), { nil: undefined }),
  since: fc.option(fc.nat(12), { nil: undefined }),
  offset: fc.nat(8),
  limit: fc.integer({ min: 1, max: 5 }),
});

function checkRuns(t: Test, open: OpenTelemetry): void {
  void t.test('matches ids in any case and never interprets them as SQL', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const id = 'abcdefab-cdef-abcd-efab-cdefabcdefab';
    await opened.store.writer.traces({ tenant, items: [aTrace(1, { trace_id: id })] }, RECEIVED);
    await opened.reopen();
    t.ok(await opened.store.runs.setOutcome(tenant, id.toUpperCase(), { success: true }));
    t.equal((await opened.store.runs.read(tenant, id.toUpperCase()))?.trace_id, id);
    t.equal((await opened.store.runs.read(tenant, `${id}' OR TRUE --`))?.trace_id, id);
    for (const tag of ["'", "' OR TRUE --", '%', '_', '\\', ';']) {
      t.equal((await opened.store.runs.list(tenant, { tag }, ALL)).count, 0, tag);
    }
  });

  void t.test('filters match a scan of all runs, page by page', async (t) => {
    const opened = await open(t, { fileRows: 12 });
    await neverDiffers(
      t,
      { runs: 20, ms: 2500 },
      [
        fc.array(fc.array(run, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 15 }),
        fc.array(asked, { minLength: 4, maxLength: 10 }),
      ],
      async (commits, questions) => {
        const user = await opened.addUser();
        const runs: TraceHeader[] = [];
        for (const [i, commit] of commits.entries()) {
          const made = commit.map(({ agent, outcome, error, status, at, ...context }) =>
            aHeader({
              metadata: context,
              agent,
              outcome,
              error_message: error,
              status,
              started_at: NOON + (at + i) * 1000,
            }),
          );
          runs.push(...made);
          const items = made.map((trace) => ({ trace, spans: [] }));
          await opened.store.writer.traces({ tenant: user, items }, { receivedAt: NOON });
          // A newer version of an earlier run, which is found at its new location.
          const earlier = runs[i];
          if (earlier !== undefined && i % 3 === 0) {
            const outcome = TEXTS[i % TEXTS.length] ?? 'none';
            await opened.store.runs.setOutcome(user, earlier.trace_id, { success: true, outcome });
            runs[i] = { ...earlier, outcome };
          }
        }
        for (const { session, forUser, tag, oldestFirst, status, since, offset, limit } of questions) {
          const filter: RunFilter = {
            ...(session === undefined ? {} : { session_id: session }),
            ...(forUser === undefined ? {} : { user_id: forUser }),
            ...(tag === undefined ? {} : { tag }),
            ...(oldestFirst ? { oldest_first: true } : {}),
            ...(status === undefined ? {} : { status }),
            ...(since === undefined ? {} : { start_time: NOON + since * 1000 }),
          };
          const { items, count } = await opened.store.runs.list(user, filter, { offset, limit });
          const expected = listOf(runs, filter);
          if (oldestFirst) expected.reverse();
          same(
            { ids: items.map(({ trace_id }) => trace_id), count },
            { ids: expected.slice(offset, offset + limit), count: expected.length },
          );
        }
      },
    );
  });

  void t.test('spans with one id under several traces change independently in any file', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const span_id = randomUUID();
    const traces = Array.from({ length: 3 }, () => aHeader({ status: 'running' }));
    const write = async (of: readonly number[], status: 'running' | 'completed' | 'failed') => {
      const items = of.map((i) => {
        const trace = traces[i] ?? aHeader();
        return { trace, spans: [aSpanRecord(trace.trace_id, { span_id, status })] };
      });
      await opened.store.writer.traces({ tenant, items }, { receivedAt: NOON });
    };
    const look = async (): Promise<string[]> =>
      Promise.all(
        traces.map(async ({ trace_id }) => {
          const found = await opened.store.runs.read(tenant, trace_id);
          const spans = found === null ? [] : await spansOf(found);
          return spans.map(({ status }) => status).join(' ');
        }),
      );
    await write([0, 1, 2], 'running');
    t.same(await look(), ['running', 'running', 'running']);
    await write([1], 'failed');
    t.same(await look(), ['running', 'failed', 'running']);
    await opened.reopen();
    await opened.settled();
    t.same(
      await look(),
      ['running', 'failed', 'running'],
      'the newer version replaced only its own older one',
    );
    await write([0, 1], 'completed');
    t.same(await look(), ['completed', 'failed', 'running']);
    await opened.reopen();
    t.same(await look(), ['completed', 'failed', 'running']);
  });

  void t.test('stores a span that occurs twice in a batch once', async (t) => {
    for (const length of [2, 3, 40]) {
      const opened = await open(t);
      const tenant = await opened.addUser();
      const { trace, spans } = aTrace(length);
      const items = [{ trace, spans: [...spans, ...spans.slice(0, 1)] }];
      const quota = { monthly_items: 100 };
      const receipt = await opened.store.writer.traces({ tenant, items, quota }, { receivedAt: NOON });
      t.match(receipt, { usage: { used: length } });
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      t.equal(found?.span_count, length);
      t.equal(found && (await spansOf(found)).length, length);
    }
  });

  void t.test('stores the first of the copies of a span in concurrent batches', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const { trace, spans } = aTrace(20);
    const write = async (items: SpanRecord[]) =>
      opened.store.writer.traces({ tenant, items: [{ trace, spans: items }] }, { receivedAt: NOON });
    // The first one delays the others so that they arrive together.
    await Promise.all([write([]), write(spans), write(spans.slice(5)), write(spans.slice(0, 6))]);
    const found = await opened.store.runs.read(tenant, trace.trace_id);
    t.equal(found?.span_count, spans.length);
    t.equal(found && (await spansOf(found)).length, spans.length);
  });

  void t.test('hides the runs of other users', async (t) => {
    const { store, addUser } = await open(t);
    const [anna, ben] = [await addUser(), await addUser()];
    const { trace, spans } = aTrace(1);
    await store.writer.traces({ tenant: anna, items: [{ trace, spans }] }, RECEIVED);
    t.equal(await store.runs.read(ben, trace.trace_id), null);
    t.equal(await store.runs.setOutcome(ben, trace.trace_id, { success: true }), null);
    t.same(await store.runs.list(ben, {}, ALL), { items: [], count: 0 });
    t.match(await store.runs.read(anna, trace.trace_id), { success: null });
    const mine = aTrace(0, { trace_id: trace.trace_id, outcome: 'of ben' });
    await store.writer.traces({ tenant: ben, items: [mine] }, RECEIVED);
    t.match(await store.runs.read(anna, trace.trace_id), { outcome: null, span_count: 1 });
  });

  void t.test('an outcome applies after earlier writes and keeps the text if none is given', async (t) => {
    const { store, addUser } = await open(t);
    const user = await addUser();
    const { trace } = aTrace(0);
    t.equal(await store.runs.setOutcome(user, trace.trace_id, { success: true }), null, 'not yet known');
    const written = store.writer.traces({ tenant: user, items: [{ trace, spans: [] }] }, RECEIVED);
    const set = store.runs.setOutcome(user, trace.trace_id, { success: true, outcome: 'done' });
    await written;
    t.same(await set, { success: true, outcome: 'done' });
    t.same(await store.runs.setOutcome(user, trace.trace_id, { success: false }), {
      success: false,
      outcome: 'done',
    });
    t.match(await store.runs.read(user, trace.trace_id), { success: false, outcome: 'done' });
    await store.runs.setOutcome(user, trace.trace_id, { success: true, outcome: 'a\ud83dz' });
    t.match(await store.runs.read(user, trace.trace_id), { success: true, outcome: 'a\ufffdz' });
  });
}

await onEveryTelemetry(t, checkRuns);
