import t from 'tap';
import { gaugeRequest } from '../../support/gauge-request.js';
import { logRequest } from '../../support/log-request.js';
import { aRun, QuotaDaemon } from './quota-daemon.js';

const NANOS = 1_768_478_400_000_000_000n;

const logs = (count: number): object =>
  logRequest(
    'shop',
    Array.from({ length: count }, (_, index) => ({ body: 'said', nanos: NANOS + BigInt(index) })),
  );

const points = (count: number): object =>
  gaugeRequest(
    'shop',
    Array.from({ length: count }, (_, index) => ({
      name: 'load',
      value: index,
      nanos: NANOS + BigInt(index),
      attributes: {},
    })),
  );

async function stored(daemon: QuotaDaemon): Promise<{ readonly logs: number; readonly points: number }> {
  const found = await daemon.api.get<{ readonly count: number }>('/dashboard/logs/search');
  const metrics =
    await daemon.api.get<readonly { readonly data_point_count: number }[]>('/dashboard/metrics/');
  return { logs: found.count, points: metrics.reduce((sum, metric) => sum + metric.data_point_count, 0) };
}

void t.test('counts only spans by default', async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 2 });
  t.match(await daemon.send(aRun(2)), { isTaken: true });
  t.same(await daemon.sendOtlp('logs', logs(10)), { isTaken: true, quota: {} });
  t.same(await daemon.sendOtlp('metrics', points(10)), { isTaken: true, quota: {} });
  t.match(await daemon.usage(), { used: 2, limit: 2 });
  t.same(await stored(daemon), { logs: 10, points: 10 });
});

void t.test('spans, log records and points share one count on every route', async (t) => {
  const count = ['spans', 'log_records', 'metric_points'];
  const daemon = await QuotaDaemon.start(t, { monthly_events: 20, count });
  const left = (remaining: number) => ({
    isTaken: true,
    quota: { limit: '20', remaining: String(remaining) },
  });
  t.match(await daemon.send(aRun(2)), left(18));
  t.match(await daemon.sendOtlp('logs', logs(3)), left(15));
  t.match(await daemon.sendOtlp('logs', logs(3), { isOnApi: true }), left(12));
  t.match(await daemon.sendGrpc('logs', logs(3)), left(9));
  t.match(await daemon.sendOtlp('metrics', points(2)), left(7));
  t.match(await daemon.sendOtlp('metrics', points(2), { isOnApi: true }), left(5));
  t.match(await daemon.sendGrpc('metrics', points(2)), left(3));
  const full = { isTaken: false, quota: { limit: '20', remaining: '3' } };
  t.match(await daemon.sendOtlp('logs', logs(4)), full);
  t.match(await daemon.sendGrpc('logs', logs(4)), full);
  t.match(await daemon.sendOtlp('metrics', points(4)), full);
  t.match(await daemon.sendGrpc('metrics', points(4)), full);
  t.match(await daemon.send(aRun(4)), full);
  t.same(await stored(daemon), { logs: 9, points: 6 });
  t.match(await daemon.sendOtlp('logs', logs(3)), left(0));
  t.match(await daemon.usage(), { used: 20, limit: 20 });
  t.same(await stored(daemon), { logs: 12, points: 6 });
});

void t.test('concurrent items of all kinds never exceed the limit', async (t) => {
  const limit = 300;
  const daemon = await QuotaDaemon.start(t, {
    monthly_events: limit,
    count: ['spans', 'log_records', 'metric_points'],
  });
  const requests = Array.from({ length: 200 }, (_, index) => {
    const size = 1 + (index % 7);
    if (index % 3 === 0) return daemon.send(aRun(size));
    return index % 3 === 1 ? daemon.sendOtlp('logs', logs(size)) : daemon.sendGrpc('metrics', points(size));
  });
  const outcomes = await Promise.all(requests);
  t.ok(outcomes.some(({ isTaken }) => !isTaken));
  const spans = [...(await daemon.storedSpans()).values()].reduce((a, b) => a + b, 0);
  const others = await stored(daemon);
  const used = spans + others.logs + others.points;
  t.ok(used <= limit, `${used} of ${limit}`);
  t.match(await daemon.usage(), { used });
});

void t.test('can count anything instead of spans', async (t) => {
  const daemon = await QuotaDaemon.start(t, { monthly_events: 2, count: ['log_records'] });
  t.same(await daemon.send(aRun(9)), { isTaken: true, quota: {} });
  t.match(await daemon.sendOtlp('logs', logs(3)), { isTaken: false });
  t.match(await daemon.sendOtlp('logs', logs(2)), { isTaken: true });
  t.match(await daemon.usage(), { used: 2, limit: 2 });
});
