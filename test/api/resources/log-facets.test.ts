import t from 'tap';
import { startApi, type TestApi } from '../../support/api.js';
import { logRequest, type LogToSend } from '../../support/log-request.js';

const SECOND_NANOS = 1_000_000_000n;
/** 2026-05-28T20:26:40Z */
const START_NANOS = 1_780_000_000n * SECOND_NANOS;
const TRACE = '7b8c1c1e0d5c4a539a551d0a3a7a5a01';
const TRACE_UUID = '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01';
const TIMES = { start_time: '2026-05-28T20:00:00Z', end_time: '2026-05-28T21:00:00Z' };

interface Facets {
  readonly interval: string;
  readonly count: number;
  readonly severities: readonly { readonly name: string; readonly count: number }[];
  readonly services: readonly { readonly name: string; readonly count: number }[];
  readonly buckets: readonly object[];
}

async function send(api: TestApi, service: string, logs: readonly Omit<LogToSend, 'nanos'>[]): Promise<void> {
  const timed = logs.map((log, minute) => ({
    ...log,
    nanos: START_NANOS + BigInt(minute * 60) * SECOND_NANOS,
  }));
  const { status } = await api.call('POST', '/otlp/v1/logs', { json: logRequest(service, timed) });
  if (status !== 200) throw new Error(`The records were answered with ${status}.`);
}

void t.test('facets count records by severity, service and time', async (t) => {
  const api = await startApi(t);
  const facets = (parameters: Readonly<Record<string, string>>) =>
    api.get<Facets>(`/dashboard/logs/facets?${new URLSearchParams(parameters).toString()}`);
  t.match(await facets({}), { interval: '15m', count: 0, services: [], buckets: [] });
  await send(api, 'shop', [
    { body: 'payment declined', severity: 17, traceId: TRACE },
    { body: 'payment accepted' },
    { body: 'good bye', severity: 21 },
  ]);
  await send(api, 'mail', [{ body: 'sent', severity: 9 }]);

  t.strictSame(await facets(TIMES), {
    interval: '1m',
    start_time: '2026-05-28T20:00:00Z',
    end_time: '2026-05-28T21:00:00Z',
    count: 4,
    severities: [
      { name: 'trace', count: 0 },
      { name: 'debug', count: 0 },
      { name: 'info', count: 2 },
      { name: 'warn', count: 0 },
      { name: 'error', count: 1 },
      { name: 'fatal', count: 1 },
    ],
    services: [
      { name: 'shop', count: 3 },
      { name: 'mail', count: 1 },
    ],
    of_other_services: 0,
    buckets: [
      { start: '2026-05-28T20:26:00Z', count: 2, errors: 1 },
      { start: '2026-05-28T20:27:00Z', count: 1, errors: 0 },
      { start: '2026-05-28T20:28:00Z', count: 1, errors: 1 },
    ],
    counted_after: null,
  });
  const ofMail = await facets({ ...TIMES, service: 'mail', interval: '1h' });
  t.match(ofMail, { interval: '1h', count: 1, buckets: [{ start: '2026-05-28T20:00:00Z', count: 1 }] });
  t.equal(ofMail.services.length, 2, 'counts of the other services');
  t.equal((await facets({ ...TIMES, q: 'payment' })).count, 2);
  t.equal((await facets({ ...TIMES, trace_id: TRACE_UUID })).count, 1);
  const ofErrors = await facets({ ...TIMES, severity: 'error' });
  t.match(ofErrors, { count: 1, services: [{ name: 'shop', count: 1 }] });
  t.match(ofErrors.severities[5], { name: 'fatal', count: 1 });

  const other = await api.createUser('other@example.com', ['read']);
  t.equal((await api.get<Facets>('/dashboard/logs/facets', other.key)).count, 0);
  for (const [field, query] of [
    ['start_time', 'start_time=2026-05-28T20:00:00Z&end_time=2026-05-28T20:00:00Z'],
    ['interval', 'interval=1s'],
    ['interval', 'interval=2h'],
    ['span_id', `span_id=7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01`],
    ['severity', 'severity=bad'],
  ] as const) {
    const { status, body } = await api.call('GET', `/dashboard/logs/facets?${query}`);
    t.match({ status, body }, { status: 422, body: { errors: [{ field }] } }, query);
  }
});
