import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../src/signal/attributes.js';
import { formatTime } from '../../src/signal/time.js';
import { aHeader, aSpanRecord, aTrace, DAY, NOON } from '../support/run-records.js';
import { spansOf } from '../storage/duckdb/shown-spans.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const ALL = { offset: 0, limit: 100 };

function checkWriter(t: Test, open: OpenTelemetry): void {
  void t.test('stores empty batches and traces without spans', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    t.same(await opened.store.writer.traces({ tenant, items: [] }, RECEIVED), { accepted: 0, refused: [] });
    const empty = aTrace(0);
    t.same(await opened.store.writer.traces({ tenant, items: [empty, empty] }, RECEIVED), {
      accepted: 2,
      refused: [],
    });
    const found = await opened.store.runs.read(tenant, empty.trace.trace_id);
    t.match(found, { span_count: 0, total_tokens: null, total_cost_usd: null, duration_ms: null });
    t.same(found && (await spansOf(found)), []);
    t.same(await opened.store.agents.list(await opened.addUser()), []);
    t.same(await opened.store.runs.list(tenant, {}, { offset: 5, limit: 5 }), { items: [], count: 1 });
  });

  void t.test('stores and sums amounts at their limits without overflow', async (t) => {
    const opened = await open(t, { fileRows: 20 });
    const tenant = await opened.addUser();
    const most = { tokens: Number.MAX_SAFE_INTEGER, cost: 999_999_999_999_999 };
    const runs = Array.from({ length: 30 }, () => {
      const { trace } = aTrace(0, { duration_ms: Number.MAX_SAFE_INTEGER });
      const spans = Array.from({ length: 3 }, () =>
        aSpanRecord(trace.trace_id, {
          input_tokens: most.tokens,
          output_tokens: most.tokens,
          cost_usd: most.cost,
          duration_ms: Number.MAX_SAFE_INTEGER,
        }),
      );
      return { trace, spans };
    });
    for (const run of runs) await opened.store.writer.traces({ tenant, items: [run] }, RECEIVED);
    await opened.settled();
    const { items, count } = await opened.store.runs.list(tenant, {}, ALL);
    t.equal(count, 30);
    for (const run of items) {
      t.equal(run.total_tokens, most.tokens);
      t.equal(run.total_cost_usd, 3 * most.cost);
    }
    const [agent] = await opened.store.agents.list(tenant);
    t.equal(agent?.total_cost, 89_999_999.99999991);
    const days = await opened.store.agents.days(tenant, agent?.id ?? '', { from: 0, to: NOON });
    t.match(days, { days: [{ total_runs: 30, avg_latency_ms: Number.MAX_SAFE_INTEGER }] });
    t.equal(days?.days[0]?.total_tokens, 30 * most.tokens);
    const found = await opened.store.runs.read(tenant, items[0]?.trace_id ?? '');
    t.match(found && (await spansOf(found)), [{ cost_usd: 999_999.999999999, total_tokens: most.tokens }]);
  });

  void t.test('single costs and sums of many are exact', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const costs = [1, 999_999, 1_000_001, 123_456_789_012_345, 999_999_999_999_999, 999_999_999_999_998];
    const items = costs.map((total_cost_usd) => aTrace(0, { total_cost_usd }));
    await opened.store.writer.traces({ tenant, items }, RECEIVED);
    for (const { trace } of items) {
      t.equal((await opened.store.runs.read(tenant, trace.trace_id))?.total_cost_usd, trace.total_cost_usd);
    }
    const cents = Array.from({ length: 1000 }, () => aTrace(0, { agent: 'cents', total_cost_usd: 10_001 }));
    await opened.store.writer.traces({ tenant, items: cents }, RECEIVED);
    const agent = (await opened.store.agents.list(tenant)).find(({ name }) => name === 'cents');
    t.equal(agent?.total_cost, 0.010001);
  });

  void t.test('stores times from the seventeenth to the twenty-third century', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const times = [Number.MIN_SAFE_INTEGER, -DAY, -1, 0, 1, NOON, Number.MAX_SAFE_INTEGER];
    const items = times.map((started_at) => {
      const trace = aHeader({ started_at, ended_at: started_at });
      return { trace, spans: [aSpanRecord(trace.trace_id, { started_at, ended_at: started_at })] };
    });
    await opened.store.writer.traces({ tenant, items }, RECEIVED);
    await opened.reopen();
    const { items: runs } = await opened.store.runs.list(tenant, {}, ALL);
    t.same(
      runs.map((run) => run.started_at),
      [...times].reverse(),
    );
    const [agent] = await opened.store.agents.list(tenant);
    t.equal(agent?.last_run_at, Number.MAX_SAFE_INTEGER);
    const days = await opened.store.agents.days(tenant, agent?.id ?? '', {
      from: Number.MIN_SAFE_INTEGER,
      to: Number.MAX_SAFE_INTEGER,
    });
    t.same(
      days?.days.map((day) => [day.date, day.total_runs]),
      [
        ['1684-07-28', 1],
        ['1969-12-31', 2],
        ['1970-01-01', 2],
        ['2026-01-15', 1],
        ['2255-06-05', 1],
      ],
    );
    for (const [i, { trace }] of items.entries()) {
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      const at = formatTime(times[i] ?? 0);
      t.match(found && (await spansOf(found)), [{ started_at: at, ended_at: at, duration_ms: 0 }]);
    }
    const from = { start_time: -1, end_time: 0 };
    t.equal((await opened.store.runs.list(tenant, from, ALL)).count, 2, 'both ends are inclusive');
  });

  void t.test('returns texts of every kind unchanged', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const texts = [
      '',
      ' ',
      '\0',
      'a\0b',
      '\t\n\r',
      "'; DROP TABLE spans; --",
      '\u2028\u2029',
      '🪶🏽',
      'x'.repeat(1_000_000),
    ];
    const items = texts.map((text) => {
      const trace = aHeader({
        agent: `agent ${text}`,
        outcome: text,
        error_message: text,
        metadata: { text },
      });
      const payload: JsonObject = { text, nested: [{ text }, null, 0, -1.5e-7, true, []], '': {} };
      const span = aSpanRecord(trace.trace_id, {
        name: text,
        model: text,
        error_message: text,
        input_data: payload,
        output_data: { [text]: text },
        metadata: payload,
      });
      return { trace, spans: [span, { ...span, span_id: randomUUID(), input_data: null }] };
    });
    // Some directly from columns, some as objects that change a stored trace.
    await opened.store.writer.traces({ tenant, items: items.slice(0, 5) }, RECEIVED);
    for (const { trace, spans } of items.slice(5)) {
      await opened.store.writer.traces({ tenant, items: [{ trace, spans: [] }] }, RECEIVED);
      await opened.store.writer.traces({ tenant, items: [{ trace, spans }] }, RECEIVED);
    }
    await opened.settled();
    await opened.reopen();
    for (const { trace, spans } of items) {
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      t.equal(found?.agent_name, trace.agent);
      t.equal(found?.outcome, trace.outcome);
      t.same(found?.metadata, trace.metadata);
      const shown = found === null ? [] : await spansOf(found);
      for (const span of spans) {
        const { name, model, error_message, input_data, output_data } = span;
        const one = shown.find(({ span_id }) => span_id === span.span_id);
        t.strictSame(
          { name: one?.name, model: one?.model, error_message: one?.error_message },
          { name, model, error_message },
        );
        t.equal(JSON.stringify(one?.input_data), JSON.stringify(input_data));
        t.equal(JSON.stringify(one?.output_data), JSON.stringify(output_data));
      }
    }
  });

  void t.test('lone surrogates become the replacement character, except in payloads', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const { trace } = aTrace(0, { outcome: 'a\ud83dz' });
    const span = aSpanRecord(trace.trace_id, { name: '\udc00', input_data: { text: 'a\ud83dz' } });
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: [span] }] }, RECEIVED);
    const found = await opened.store.runs.read(tenant, trace.trace_id);
    t.equal(found?.outcome, 'a\ufffdz');
    t.match(found && (await spansOf(found)), [{ name: '\ufffd', input_data: { text: 'a\ud83dz' } }]);
  });

  void t.test('reads a trace of ten thousand spans from twenty batches in pages', async (t) => {
    const opened = await open(t, { fileRows: 3000 });
    const tenant = await opened.addUser();
    const { trace } = aTrace(0, { status: 'running' });
    const ids: string[] = [];
    for (let batch = 0; batch < 20; batch++) {
      const spans = Array.from({ length: 500 }, (_, i) =>
        aSpanRecord(trace.trace_id, {
          // Many spans per time, in unordered batches.
          started_at: NOON - batch * 10 + Math.floor(i / 30),
          total_tokens: 1,
          input_data: { batch, i },
        }),
      );
      ids.push(...spans.map(({ span_id }) => span_id));
      await opened.store.writer.traces({ tenant, items: [{ trace, spans }] }, RECEIVED);
    }
    for (const look of ['hot', 'moved', 'opened again']) {
      if (look === 'moved') await opened.settled();
      if (look === 'opened again') await opened.reopen();
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      t.match(found, { span_count: 10_000, total_tokens: 10_000 });
      const shown = found === null ? [] : await spansOf(found);
      t.equal(shown.length, 10_000, look);
      const shownIds = new Set(shown.map((span) => span.span_id));
      t.ok(ids.every((id) => shownIds.has(id)));
      const keys = shown.map((span) => `${span.started_at.replace(':00Z', ':00.000000Z')} ${span.span_id}`);
      t.ok(
        [...keys].sort().every((key, i) => key === keys[i]),
        'in order',
      );
      t.ok(shown.every((span) => span.input_data !== null));
    }
  });
}

await onEveryTelemetry(t, checkWriter);
