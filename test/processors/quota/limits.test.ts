import { randomInt } from 'node:crypto';
import t from 'tap';
import { traceIdOf } from '../../support/header-text.js';
import { anItem, aSpan } from '../../support/trace-batch.js';
import { aRun, itemOf, QuotaDaemon, WAYS, type Outcome, type Run } from './quota-daemon.js';

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);

void t.test('accepts as many of 1000 concurrent requests as fit, on every route', async (t) => {
  const limit = 1500;
  const daemon = await QuotaDaemon.start(t, { monthly_events: limit });
  const runs = Array.from({ length: 1000 }, () => aRun(randomInt(1, 6)));
  const outcomes = await Promise.all(
    runs.map((run, index) => daemon.send(run, { way: WAYS[index % WAYS.length] ?? 'trace_batch' })),
  );
  const of = (isTaken: boolean): Run[] => runs.filter((_, index) => outcomes[index]?.isTaken === isTaken);
  const stored = await daemon.storedSpans();
  const used = sum(stored.values());
  t.ok(used <= limit, `${used} spans stored`);
  t.same(stored, new Map(of(true).map(({ traceId, spanIds }) => [traceId, spanIds.length])));
  t.match(await daemon.usage(), { used, limit });
  const smallest = Math.min(...of(false).map(({ spanIds }) => spanIds.length));
  t.ok(limit - used < smallest, `nothing that fits was refused: ${limit - used} left`);

  for (const { quota, isTaken, retryAfter } of outcomes) {
    if (quota.limit !== String(limit) || Number(quota.remaining) > limit) t.fail(JSON.stringify(quota));
    if (!isTaken && !(retryAfter !== undefined && retryAfter > 0)) t.fail('no time to wait');
  }
});

void t.test('every route returns the quota before and at the limit', async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 3 });
  // The clock is stopped at noon of 15 January.
  const reset = String(Date.UTC(2026, 1, 1) / 1000);
  for (const way of WAYS) {
    const { key } = await daemon.addUser();
    const send = (run: Run): Promise<Outcome> => daemon.send(run, { way, key });
    const first = aRun(2);
    t.same(await send(first), { isTaken: true, quota: { limit: '3', remaining: '1', reset } }, way);
    const quota = { limit: '3', remaining: '1', reset };
    t.same(
      await send(aRun(2)),
      { isTaken: false, quota, retryAfter: 16.5 * 86_400 },
      'seconds until the reset',
    );
    t.same(await send(aRun(1)), { isTaken: true, quota: { limit: '3', remaining: '0', reset } });
    t.match(await send(aRun(1)), { isTaken: false, quota: { remaining: '0' } });
    t.same(await send(first), { isTaken: true, quota: { limit: '3', remaining: '0', reset } }, 'a repeat');
    t.equal((await daemon.storedSpans(key)).size, 2);
  }
});

void t.test('a refused request stores no run, span or agent', async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 4 });
  const known = aRun(2);
  await daemon.send(known);
  const agents = await daemon.api.get('/agents');
  const more = { ...known, spanIds: [...known.spanIds, ...aRun(1).spanIds] };
  const other = anItem({ trace: { agent: 'another' }, spans: 2 });
  t.match(await daemon.sendItems([itemOf(more), other]), { isTaken: false });
  t.same(await daemon.storedSpans(), new Map([[known.traceId, 2]]));
  t.same(await daemon.api.get('/agents'), agents);
  t.match(await daemon.usage(), { used: 2, limit: 4 });
  // Nothing refused is treated as a repeat.
  t.match(await daemon.sendItems([other]), { isTaken: true, quota: { remaining: '0' } });
  t.match(await daemon.send(more), { isTaken: false });
  t.match(await daemon.usage(), { used: 4 });
});

void t.test('an event is a new span, or a new run without spans', async (t) => {
  const daemon = await QuotaDaemon.start(t, {});
  const used = async () => (await daemon.usage()).used;
  const open = aRun(0);
  await daemon.send(open);
  t.equal(await used(), 1);
  await daemon.send(open);
  t.equal(await used(), 1, 'a repeat');
  const grown = { ...open, spanIds: aRun(3).spanIds };
  await daemon.send(grown);
  t.equal(await used(), 4);
  const item = anItem({ spans: 2 });
  const [span] = item.spans;
  await daemon.sendItems([item, { ...item, spans: span ? [span] : [] }]);
  t.equal(await used(), 6, 'sent twice in one request');
  await daemon.sendItems([{ trace: { ...item.trace, trace_id: 'x' }, spans: [] }]);
  t.equal(await used(), 6, 'rejected');
  t.match(await daemon.usage(), { limit: null });
});

void t.test('repeats and completions are free, also at the limit', async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 3 });
  const running = { status: 'running', ended_at: undefined, success: undefined, duration_ms: undefined };
  const item = anItem({ trace: running, spans: 0 });
  const { trace } = item;
  const traceId = traceIdOf(item);
  const open = [1, 2, 3].map(() => aSpan(traceId, running));
  const begin = { trace, spans: open };
  t.match(await daemon.sendItems([begin]), { isTaken: true, quota: { remaining: '0' } });
  t.match(await daemon.sendItems([anItem()]), { isTaken: false });

  t.match(await daemon.sendItems([begin]), { isTaken: true, quota: { remaining: '0' } });
  const end = { trace: { ...trace, ...anItem({ trace: { trace_id: traceId } }).trace }, spans: [] };
  const ended = open.map((span) => aSpan(traceId, { span_id: span['span_id'] ?? null }));
  t.match(await daemon.sendItems([{ ...end, spans: ended }]), { isTaken: true, quota: { remaining: '0' } });
  t.match(await daemon.api.get(`/dashboard/traces/${traceId}`), {
    status: 'completed',
    spans: [{ status: 'completed' }, { status: 'completed' }, { status: 'completed' }],
  });
  t.match(await daemon.sendItems([{ ...end, spans: [...ended, aSpan(traceId)] }]), { isTaken: false });
  t.match(await daemon.usage(), { used: 3, limit: 3 });
});

void t.test('concurrent copies of a request count once and are all accepted', async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 40 });
  const run = aRun(40);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => daemon.send(run)));
  t.ok(outcomes.every(({ isTaken, quota }) => isTaken && quota.remaining === '0'));
  t.match(await daemon.usage(), { used: 40 });
});

void t.test('without a limit everything is counted and no headers are sent', async (t) => {
  const daemon = await QuotaDaemon.start(t, {});
  for (const way of WAYS) t.same(await daemon.send(aRun(5), { way }), { isTaken: true, quota: {} });
  t.match(await daemon.usage(), { used: 5 * WAYS.length, limit: null });
});
