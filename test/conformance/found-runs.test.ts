import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type { RunCursor, RunSearch } from '../../src/storage/contracts/runs.js';
import { addPrompts } from '../storage/duckdb/prompt-oracle.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';

const RECEIVED = { receivedAt: NOON };

function aRun(i: number, spans: readonly Partial<SpanRecord>[]): TraceRecord {
  const trace = aHeader({ started_at: NOON + i * 1000, duration_ms: (i * 7) % 50 });
  return { trace, spans: spans.map((span) => aSpanRecord(trace.trace_id, span)) };
}

/** Runs of one to three spans: two models, one of them rare, and several types and names. */
function someRuns(): TraceRecord[] {
  return Array.from({ length: 80 }, (_, i) =>
    aRun(i, [
      { type: 'llm', model: i % 20 === 3 ? 'rare' : 'often', name: i % 2 === 0 ? 'even' : 'odd' },
      ...(i % 3 === 0 ? [{ type: 'tool', name: "it's a tool" } as const] : []),
      ...(i % 4 === 0 ? [{ type: 'llm', model: null, name: 'even' } as const] : []),
    ]),
  );
}

function expected(runs: readonly TraceRecord[], { span = {}, sort }: RunSearch): string[] {
  const has = (given: SpanRecord): boolean =>
    (span.model === undefined || given.model === span.model) &&
    (span.name === undefined || given.name === span.name) &&
    (span.type === undefined || given.type === span.type);
  return runs
    .filter(({ spans }) => spans.some(has))
    .map(({ trace }) => trace)
    .sort((a, b) => {
      const bySort = sort === undefined ? 0 : (b.duration_ms ?? 0) - (a.duration_ms ?? 0);
      return bySort || b.started_at - a.started_at;
    })
    .map(({ trace_id }) => trace_id);
}

async function found({ runs }: TelemetryStore, userId: string, search: RunSearch): Promise<string[]> {
  const ids: string[] = [];
  let after: RunCursor | null = null;
  for (;;) {
    const page = await runs.follow(userId, search, { after, limit: 9 });
    ids.push(...page.items.map(({ trace_id }) => trace_id));
    if (page.next === null) return ids;
    after = page.next;
  }
}

const SEARCHES: readonly RunSearch[] = [
  { span: { model: 'rare' } },
  { span: { model: 'often' }, sort: 'duration_ms' },
  { span: { name: "it's a tool", type: 'tool' } },
  { span: { model: 'rare', name: 'even' } },
  { span: { model: 'rare', name: 'odd' }, sort: 'duration_ms' },
  { span: { type: 'db' } },
  { span: { model: 'unknown' } },
  { span: { model: 'nul \0' } },
];

function checkFound(t: Test, open: OpenTelemetry): void {
  void t.test('finds runs by one of their spans in any file', async (t) => {
    const opened = await open(t, { fileRows: 30 });
    const userId = await opened.addUser();
    const runs = someRuns();
    for (let from = 0; from < runs.length; from += 10)
      await opened.store.writer.traces({ tenant: userId, items: runs.slice(from, from + 10) }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      for (const search of SEARCHES)
        t.strictSame(
          await found(opened.store, userId, search),
          expected(runs, search),
          `${state}: ${JSON.stringify(search)}`,
        );
      t.strictSame(await found(opened.store, await opened.addUser(), { span: { model: 'often' } }), []);
      await opened.settled();
    }
    // The newest version of a span counts: it is completed later, with a model.
    const [run] = runs;
    const [span] = run?.spans ?? [];
    if (!run || !span) throw new Error('there are runs with spans');
    const late = aRun(500, [{ status: 'running', ended_at: null }]);
    await opened.store.writer.traces({ tenant: userId, items: [late] }, RECEIVED);
    const later = {
      ...late,
      spans: late.spans.map((each) => ({ ...each, status: 'completed' as const, model: 'late' })),
    };
    await opened.store.writer.traces({ tenant: userId, items: [later] }, RECEIVED);
    t.strictSame(await found(opened.store, userId, { span: { model: 'late' } }), [late.trace.trace_id]);
    // A repeat with other values is only a repeat.
    const otherwise = {
      ...later,
      spans: later.spans.map((each) => ({ ...each, model: 'repeated', name: 'repeated' })),
    };
    await opened.store.writer.traces({ tenant: userId, items: [otherwise] }, RECEIVED);
    t.strictSame(await found(opened.store, userId, { span: { model: 'repeated' } }), []);
    t.strictSame(await found(opened.store, userId, { span: { name: 'repeated' } }), []);
    t.strictSame(await found(opened.store, userId, { span: { model: 'late' } }), [late.trace.trace_id]);
  });

  void t.test('finds a run after many runs without the span', async (t) => {
    const opened = await open(t, { fileRows: 1500 });
    const userId = await opened.addUser();
    const wanted = aRun(-10, [{ model: 'old' }]);
    const others = Array.from({ length: 2100 }, (_, i) => aRun(i, [{ model: 'new' }]));
    await opened.store.writer.traces({ tenant: userId, items: [wanted] }, RECEIVED);
    for (let from = 0; from < others.length; from += 700)
      await opened.store.writer.traces({ tenant: userId, items: others.slice(from, from + 700) }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      t.strictSame(
        await found(opened.store, userId, { span: { model: 'old' } }),
        [wanted.trace.trace_id],
        state,
      );
      const newest = await opened.store.runs.follow(
        userId,
        { span: { model: 'new' } },
        { after: null, limit: 3 },
      );
      t.strictSame(
        newest.items.map(({ trace_id }) => trace_id),
        others
          .slice(-3)
          .reverse()
          .map(({ trace }) => trace.trace_id),
      );
      await opened.settled();
    }
  });

  void t.test('finds runs by a prompt, in any version or one', async (t) => {
    const opened = await open(t);
    const userId = await opened.addUser();
    await addPrompts(opened.control.prompts, userId, ['p'], [1, 2]);
    const runs = [0, 1, 2].map((i) => aRun(i, [{}]));
    await opened.store.writer.traces({ tenant: userId, items: runs }, RECEIVED);
    const ids = runs.map(({ trace }) => trace.trace_id);
    for (const [i, version] of [1, 2].entries())
      await opened.store.prompts.link(
        userId,
        { prompt_name: 'p', prompt_version: version, trace_id: ids[i] ?? '', span_id: null },
        NOON,
      );
    const by = (prompt: NonNullable<RunSearch['prompt']>) => found(opened.store, userId, { prompt });
    t.strictSame(await by({ name: 'p' }), [ids[1], ids[0]]);
    t.strictSame(await by({ name: 'p', version: 2 }), [ids[1]]);
    t.strictSame(await by({ name: 'p', version: 3 }), []);
    t.strictSame(await by({ name: 'q' }), []);
    const both = { prompt: { name: 'p' }, span: { type: 'tool' } } as const;
    t.strictSame(await found(opened.store, userId, both), []);
    // Many newer runs with the span but without the prompt.
    const others = Array.from({ length: 700 }, (_, i) => aRun(10 + i, [{ type: 'llm' }]));
    await opened.store.writer.traces({ tenant: userId, items: others }, RECEIVED);
    for (const state of ['first', 'again'])
      t.strictSame(await by({ name: 'p', version: 1 }), [ids[0]], state);
    const ofType = { prompt: { name: 'p' }, span: { type: runs[0]?.spans[0]?.type ?? 'llm' } } as const;
    for (const state of ['first', 'again'])
      t.strictSame(await found(opened.store, userId, ofType), [ids[1], ids[0]], state);
  });

  void t.test('finds runs after many runs of other agents, even if these change', async (t) => {
    const opened = await open(t, { fileRows: 400 });
    const userId = await opened.addUser();
    const ofAgent = (agent: string, i: number, model: string): TraceRecord => {
      const run = aRun(i, [{ model }]);
      return { ...run, trace: { ...run.trace, agent } };
    };
    const longest = Array.from({ length: 600 }, (_, i) => {
      const { trace, spans } = ofAgent('slow', i, 'often');
      return { trace: { ...trace, duration_ms: 1000 + i }, spans };
    });
    const runs = [...longest, ...Array.from({ length: 12 }, (_, i) => ofAgent('quick', i, 'rare'))];
    const write = async (items: TraceRecord[]): Promise<void> => {
      await opened.store.writer.traces({ tenant: userId, items }, RECEIVED);
    };
    await write(runs);
    const same = async (name: string): Promise<void> => {
      for (const sort of ['duration_ms', undefined] as const) {
        const search: RunSearch = { span: { model: 'rare' }, ...(sort && { sort }) };
        const ids = await found(opened.store, userId, search);
        t.strictSame(new Set(ids), new Set(expected(runs, search)), `${name}, ${String(sort)}`);
        t.equal(ids.length, new Set(ids).size);
      }
    };
    await same('as it came');
    const add = async (run: TraceRecord): Promise<void> => {
      runs.push(run);
      await write([run]);
    };
    // A run of an agent without such runs, a new agent, and a span added to a run later.
    await add(ofAgent('slow', 700, 'rare'));
    await same('another agent');
    await add(ofAgent('new', 701, 'rare'));
    await same('a new agent');
    await opened.settled();
    await same('moved');
    await add(ofAgent('late', 702, 'often'));
    const [late] = runs.slice(-1);
    if (late === undefined) throw new Error('there are runs');
    const more = { trace: late.trace, spans: [aSpanRecord(late.trace.trace_id, { model: 'rare' })] };
    await same('before the span');
    runs[runs.length - 1] = { ...late, spans: [...late.spans, ...more.spans] };
    await write([more]);
    await same('a span that came later');
    await opened.reopen();
    await same('reopened');
  });

  void t.test('finds the newest runs of agents with the span while others arrive', async (t) => {
    const opened = await open(t, { fileRows: 900 });
    const userId = await opened.addUser();
    const runs: TraceRecord[] = [];
    const write = async (from: number, models: readonly (readonly [string, string])[]): Promise<void> => {
      const items = models.map(([agent, model], i) => {
        const run = aRun(from + i, [{ model }]);
        return { ...run, trace: { ...run.trace, agent } };
      });
      runs.push(...items);
      await opened.store.writer.traces({ tenant: userId, items }, RECEIVED);
    };
    const many = (length: number, of: (i: number) => readonly [string, string]) =>
      Array.from({ length }, (_, i) => of(i));
    // Occasional calls by two agents, one of them rare; before them, many runs of another agent.
    await write(
      0,
      many(1300, (i) => [i % 100 === 7 ? 'seldom' : 'caller', i % 3 === 0 ? 'm' : 'other']),
    );
    await write(
      2000,
      many(800, () => ['busy', 'none']),
    );
    const same = async (name: string): Promise<void> => {
      const page = await opened.store.runs.follow(
        userId,
        { span: { model: 'm' } },
        { after: null, limit: 250 },
      );
      const wanted = expected(runs, { span: { model: 'm' } }).slice(0, 250);
      t.strictSame(
        page.items.map(({ trace_id }) => trace_id),
        wanted,
        name,
      );
    };
    for (const state of ['as it came', 'asked again']) await same(state);
    await write(3000, [
      ['caller', 'm'],
      ['seldom', 'm'],
      ['new', 'm'],
      ['busy', 'm'],
    ]);
    await same('others came');
    await write(
      -2000,
      many(700, () => ['caller', 'm']),
    );
    await same('earlier ones came');
    await opened.settled();
    for (const state of ['moved', 'moved, asked again']) await same(state);
    await write(
      4000,
      many(600, (i) => [i % 2 === 0 ? 'caller' : 'busy', i % 5 === 0 ? 'm' : 'other']),
    );
    await same('many came');
    await opened.reopen();
    for (const state of ['reopened', 'reopened, asked again']) await same(state);
  });

  void t.test('finds a frequent model in other spans too', async (t) => {
    const opened = await open(t, { fileRows: 400 });
    const userId = await opened.addUser();
    const ofAgent = (agent: string, length: number, span: Partial<SpanRecord>): TraceRecord[] =>
      Array.from({ length }, (_, i) => {
        const { trace, spans } = aRun(i, [span]);
        const duration_ms = span.model === 'other' ? 1000 + i : i;
        // Undeclared: their agent may still change.
        return { trace: { ...trace, agent, duration_ms, follows_spans: true }, spans };
      });
    const items = [
      // These come first in the list, so that agents are told apart.
      ...ofAgent('slow', 600, { model: 'other' }),
      ...ofAgent('caller', 270, { model: 'm' }),
      ...ofAgent('user of tools', 1, { model: 'm', type: 'tool' }),
      ...ofAgent('other caller', 270, { model: 'of calls' }),
    ];
    await opened.store.writer.traces({ tenant: userId, items }, RECEIVED);
    const same = async (state: string): Promise<void> => {
      for (const model of ['m', 'of calls']) {
        const search = { span: { model }, sort: 'duration_ms' } as const;
        const page = await opened.store.runs.follow(userId, search, { after: null, limit: 300 });
        const ids = page.items.map(({ trace_id }) => trace_id);
        t.strictSame(new Set(ids), new Set(expected(items, search)), `${state}: ${model}`);
      }
    };
    await same('hot');
    await opened.settled();
    await opened.reopen();
    await same('moved');
    // Its calls stay in place when its agent changes.
    const [moved] = items.slice(-1);
    if (!moved) throw new Error('there are runs');
    const renamed = { trace: { ...moved.trace, agent: 'renamed', follows_spans: false }, spans: [] };
    await opened.store.writer.traces({ tenant: userId, items: [renamed] }, RECEIVED);
    await opened.reopen();
    await same('an agent that has no other such run');
    await opened.settled();
    await opened.reopen();
    await same('that, moved');
    const agents = await opened.store.agents.list(userId);
    t.ok(agents.some(({ name }) => name === 'renamed'));
  });
}

await onEveryTelemetry(t, checkFound);
