import t from 'tap';
import { answerText, startReceiver, type Answer } from '../../support/webhook-receiver.js';
import { WebhookService } from '../../support/webhook-service.js';
import { until } from '../../support/until.js';

const answer =
  (status: string, ...headers: string[]): Answer =>
  (socket) =>
    socket.write(answerText(status, headers, 'said'));

void t.test('creates one delivery for each event and subscribed endpoint, also for repeats', async (t) => {
  const receiver = await startReceiver(t, answer('200 OK'));
  const service = await WebhookService.start(t);
  const all = await service.addEndpoint(`${receiver.url}/all`);
  const failed = await service.addEndpoint(`${receiver.url}/failed`, ['trace.failed']);
  const events = [service.event('trace.failed', {}), service.event('agent.created', {})];
  await service.take(events);
  await service.take(events);
  t.equal((await service.settled(all.id, 2)).length, 2);
  const [delivery] = await service.settled(failed.id, 1);
  t.match(delivery, {
    event_type: 'trace.failed',
    status: 'success',
    attempt_count: 1,
    body: events[0]?.body,
    attempts: [
      {
        attempt_number: 1,
        http_status_code: 200,
        response_body: 'said',
        duration_ms: Number,
        error_message: null,
      },
    ],
  });
  await service.take(events);
  const last = service.event('prompt.created', {});
  await service.take([last]);
  await service.settled(all.id, 3);
  t.equal(receiver.requests.length, 4);
});

void t.test('attempts follow the schedule, then the delivery fails', async (t) => {
  const receiver = await startReceiver(t, answer('500 Broken'));
  const service = await WebhookService.start(t, { overlay: 'retry_schedule: [10m, 1h]' });
  const { id } = await service.addEndpoint(receiver.url);
  await service.emit();
  t.match(await service.attempted(id, 1), { status: 'pending' });
  service.clock.advance(598_000);
  t.equal(receiver.requests.length, 1);
  service.clock.advance(2000);
  t.match(await service.attempted(id, 2), { status: 'pending' });
  service.clock.advance(3_600_000);
  const [delivery] = await service.settled(id, 1);
  t.match(delivery, { status: 'failed', attempt_count: 3 });
  t.strictSame(
    receiver.requests.map(({ headers }) => headers['x-service-attempt']),
    ['1', '2', '3'],
  );
  const times = delivery?.attempts.map(({ attempted_at }) => attempted_at) ?? [];
  t.ok((times[1] ?? 0) - (times[0] ?? 0) >= 600e6 && (times[2] ?? 0) - (times[1] ?? 0) >= 3600e6);
});

void t.test('rejects an oversized event and delivers the rest of its batch', async (t) => {
  const receiver = await startReceiver(t, answer('200 OK'));
  const service = await WebhookService.start(t);
  const { id } = await service.addEndpoint(receiver.url);
  const [small, large, largest] = ['', 'ä'.repeat(200_000), 'x'].map((text) =>
    service.event('trace.failed', { text }),
  );
  if (!small || !large || !largest) throw new Error('there are three');
  const padding = ' '.repeat(256 * 1024 - Buffer.byteLength(largest.body));
  const items = [large, small, { ...largest, body: `${largest.body}${padding}` }];
  const receipt = await service.take(items);
  const bytes = Buffer.byteLength(large.body);
  t.strictSame(receipt, {
    accepted: 2,
    refused: [{ index: 0, id: large.id, reason: `/body has ${bytes} bytes; webhooks have at most 262144` }],
  });
  const done = await service.settled(id, 2);
  t.strictSame(new Set(done.map(({ body }) => body)), new Set(items.slice(1).map(({ body }) => body)));
});

void t.test('410 ends a delivery, and a busy receiver is given time', async (t) => {
  const gone = await startReceiver(t, answer('410 Gone'));
  const busy = await startReceiver(t, answer('429 Slow down', 'Retry-After: 90'));
  const service = await WebhookService.start(t, { overlay: 'retry_schedule: [1s, 1s]' });
  const first = await service.addEndpoint(gone.url);
  const second = await service.addEndpoint(busy.url);
  await service.emit();
  t.match(await service.settled(first.id, 1), [{ status: 'failed', attempts: [{ http_status_code: 410 }] }]);
  const before = await service.attempted(second.id, 1);
  service.clock.advance(88_000);
  t.equal((await service.attempted(second.id, 1)).attempt_count, 1);
  service.clock.advance(2000);
  const after = await service.attempted(second.id, 2);
  const waited = (after.attempts[1]?.attempted_at ?? 0) - (before.attempts[0]?.attempted_at ?? 0);
  t.ok(waited >= 90e6 && waited < 120e6, `${waited / 1e6} s`);
  t.equal(gone.requests.length, 1);
});

void t.test(
  'the breaker pauses an endpoint, and held deliveries resume when it is active again',
  async (t) => {
    let isBroken = true;
    const receiver = await startReceiver(t, (socket) => {
      socket.write(answerText(isBroken ? '500 Broken' : '200 OK'));
    });
    const overlay = 'breaker_threshold: 3\nretry_schedule: [1h]\nmax_concurrency_per_endpoint: 1';
    const service = await WebhookService.start(t, { overlay });
    const { id } = await service.addEndpoint(receiver.url);
    await service.emit(5);
    await until('the endpoint is paused', async () => {
      const [endpoint] = await service.control.endpoints.list(service.slug);
      return endpoint?.is_active === false;
    });
    t.match(await service.control.endpoints.list(service.slug), [
      { is_active: false, consecutive_failures: 3 },
    ]);
    const held = await service.deliveries(id);
    t.strictSame(
      held.map(({ status }) => status),
      Array.from({ length: 5 }, () => 'pending'),
    );
    t.equal(receiver.requests.length, 3);
    t.match(
      (await service.settings.meter.print()).text,
      /jackdaw_webhook_endpoints_paused_total{exporter="webhook"} 1\n/,
    );
    t.match(service.settings.logger.lines.join('\n'), new RegExp(`Paused webhook endpoints .*${id}`));
    service.clock.advance(7_200_000);
    await service.control.deliveries.retry(service.slug, held[0]?.id ?? '');
    await service.emit();
    t.equal((await service.deliveries(id)).length, 5, 'meanwhile it receives no new events');

    isBroken = false;
    await service.control.endpoints.update(service.slug, id, { is_active: true }, service.clock.now());
    await until('the first goes at once', async () =>
      (await service.deliveries(id)).some(({ status }) => status === 'success'),
    );
    t.equal(receiver.requests.length, 4);
    service.clock.advance(60_000);
    const done = await service.settled(id, 5);
    t.ok(done.every(({ status }) => status === 'success'));
    t.match(await service.control.endpoints.list(service.slug), [
      { is_active: true, consecutive_failures: 0 },
    ]);
    t.equal(receiver.requests.length, 8);
    const times = done.flatMap(({ attempts }) => attempts.at(-1)?.attempted_at ?? []);
    t.ok(Math.max(...times) - Math.min(...times) >= 48e6, 'the others were spread over a minute');
  },
);

void t.test('a manual retry is outside the schedule, in any status', async (t) => {
  let status = '500 Broken';
  const receiver = await startReceiver(t, (socket) => {
    socket.write(answerText(status));
  });
  const service = await WebhookService.start(t, { overlay: 'retry_schedule: [1h]' });
  const { id } = await service.addEndpoint(receiver.url);
  await service.emit();
  const delivery = await service.attempted(id, 1);
  t.equal(await service.control.deliveries.retry(service.slug, delivery.id), true);
  t.match(await service.attempted(id, 2), { status: 'pending' });
  service.clock.advance(3_600_000);
  t.match(await service.settled(id, 1), [{ status: 'failed', attempt_count: 3 }]);
  status = '200 OK';
  await service.control.deliveries.retry(service.slug, delivery.id);
  await until('it succeeds', async () => (await service.deliveries(id))[0]?.status === 'success');
  t.strictSame(
    (await service.attempted(id, 4)).attempts.map(({ attempt_number, http_status_code }) => [
      attempt_number,
      http_status_code,
    ]),
    [
      [1, 500],
      [2, 500],
      [3, 500],
      [4, 200],
    ],
  );
});

void t.test('a slow receiver is limited to its share and delays no others', async (t) => {
  let [underWay, most] = [0, 0];
  const slow = await startReceiver(t, () => {
    most = Math.max(most, ++underWay);
  });
  const fast = await startReceiver(t, answer('200 OK'));
  const overlay = 'max_concurrency: 12\nmax_concurrency_per_endpoint: 3\nretry_schedule: []';
  const service = await WebhookService.start(t, { overlay });
  const hanging = await service.addEndpoint(slow.url);
  const quick = await service.addEndpoint(fast.url);
  await service.emit(20);
  t.ok((await service.settled(quick.id, 20)).every(({ status }) => status === 'success'));
  await until('the slow one has its share', () => underWay === 3);
  t.equal((await service.deliveries(hanging.id)).filter(({ attempt_count }) => attempt_count > 0).length, 3);
  const { text } = await service.settings.meter.print();
  t.match(text, /jackdaw_webhook_attempts_under_way{exporter="webhook"} 3\n/);
  t.match(text, /jackdaw_webhook_attempts_total{exporter="webhook",result="success"} 20\n/);
  t.match(text, /jackdaw_webhook_first_attempt_delay_seconds_count{exporter="webhook"} 20\n/);
  t.equal(most, 3);
});

void t.test('a clean stop waits for responses, and the next start resumes', async (t) => {
  let respond = (): void => undefined;
  const receiver = await startReceiver(t, (socket, { line }) => {
    if (line.includes('/late')) respond = () => socket.write(answerText('200 OK'));
  });
  const service = await WebhookService.start(t);
  const late = await service.addEndpoint(`${receiver.url}/late`);
  await service.emit();
  await until('it arrives', () => receiver.requests.length === 1);
  const stopped = service.exporter.shutdown(new AbortController().signal);
  await service.emit();
  respond();
  await stopped;
  t.match(await service.deliveries(late.id), [
    { status: 'pending', attempt_count: 0 },
    { status: 'success', attempt_count: 1 },
  ]);
  await t.rejects(service.emit(), /not running/);
  const next = await WebhookService.start(t, { place: service.place });
  await until('the other one arrives', () => receiver.requests.length === 2);
  respond();
  await next.settled(late.id, 2);
});

void t.test('attempts pending at the deadline are interrupted and repeated by the next start', async (t) => {
  let isHanging = true;
  const receiver = await startReceiver(t, (socket) => {
    if (!isHanging) socket.write(answerText('200 OK'));
  });
  const first = await WebhookService.start(t, { overlay: 'retry_schedule: []\nbreaker_threshold: 1' });
  const { id } = await first.addEndpoint(receiver.url);
  await first.emit();
  await until('it arrives', () => receiver.requests.length === 1);
  await first.exporter.shutdown(AbortSignal.abort());
  await receiver.idle();
  isHanging = false;
  const place = await WebhookService.openPlace(t, first.place);
  const second = await WebhookService.start(t, { place });
  t.match(await second.settled(id, 1), [
    {
      status: 'success',
      attempts: [
        { attempt_number: 1, http_status_code: null, error_message: 'interrupted by restart' },
        { attempt_number: 2, http_status_code: 200 },
      ],
    },
  ]);
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 1);
});

void t.test('an unreadable secret is reported to the tenant, and its cause to the operator', async (t) => {
  const receiver = await startReceiver(t, answer('200 OK'));
  const service = await WebhookService.start(t, { overlay: 'retry_schedule: [1s]' });
  const { id } = await service.addEndpoint(receiver.url);
  await service.control.endpoints.rotateSecret(service.slug, id, 'v1:AAAA');
  await service.emit();
  const { attempts } = await service.attempted(id, 1);
  t.match(attempts, [
    {
      http_status_code: null,
      error_message: 'Cannot read the endpoint’s secret; rotate it',
      response_body: '',
    },
  ]);
  t.equal(receiver.requests.length, 0);
  const logs = service.settings.logger.lines.join('\n');
  t.match(logs, /Cannot read the secret of a webhook endpoint.*encrypted with a different key/);
  const secret = await service.rotate(id);
  service.clock.advance(1000);
  t.match(await service.settled(id, 1), [{ status: 'success' }]);
  t.notMatch(service.settings.logger.lines.join('\n'), secret.slice(6, 20));
});

void t.test('removes old deliveries and reports statistics', async (t) => {
  const receiver = await startReceiver(t, answer('500 Broken'));
  const service = await WebhookService.start(t, { overlay: 'retry_schedule: [1h]\nretention: 2h' });
  const { id } = await service.addEndpoint(receiver.url);
  await service.emit(3);
  await until('all have failed once', async () =>
    (await service.deliveries(id)).every(({ attempts }) => attempts[0]?.http_status_code === 500),
  );
  service.clock.advance(15_000);
  await until('the figures are read', async () => {
    const { text } = await service.settings.meter.print();
    return text.includes('jackdaw_webhook_pending_deliveries{exporter="webhook"} 3\n');
  });
  service.clock.advance(7_200_000);
  await until('they are gone', async () => {
    service.clock.advance(600_000);
    return (await service.deliveries(id)).length === 0;
  });
});
