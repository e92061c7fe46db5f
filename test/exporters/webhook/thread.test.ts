import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';
import { testFolder } from '../../support/test-folder.js';
import { anItem } from '../../support/trace-batch.js';
import { until } from '../../support/until.js';
import { watchWorkers } from '../../support/watch-workers.js';
import { AUTHORITY } from '../../support/webhook-certificates.js';
import { answerText, startReceiver, type Receiver } from '../../support/webhook-receiver.js';

const WEBHOOKS = '/org/default/webhooks';
/** Hanging receivers of these tests hang longer than a test lasts. */
const PATIENT = { timeout: '1h', connect_timeout: '1h', retry_schedule: ['1h'] };

interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly attempts: readonly {
    readonly http_status_code: number | null;
    readonly error_message: string | null;
  }[];
}

/** A daemon as in production: the thread sends webhooks. */
class Place {
  readonly running: TestDaemon;
  readonly api: ApiCaller;

  private constructor(running: TestDaemon) {
    this.running = running;
    this.api = new ApiCaller(running.url, running.key);
  }

  /** @param directory and key of a stopped daemon restart it */
  static async start(t: Test, again: { readonly directory?: string; readonly key?: string } = {}) {
    const directory = again.directory ?? testFolder(t);
    const caFile = join(directory, 'authority.pem');
    writeFileSync(caFile, AUTHORITY);
    const targets = { allow_cidrs: ['127.0.0.1/32'], ca_file: caFile };
    const overlay = JSON.stringify({
      exporters: { webhook: { ...PATIENT, targets } },
      service: { shutdown_timeout: '500ms' },
    });
    return new Place(await startTestDaemon(t, { ...again, directory, overlay }));
  }

  async subscribe({ port }: Receiver): Promise<string> {
    const json = { url: `https://127.0.0.1:${port}/`, event_types: ['trace.failed'] };
    const created = await this.api.call('POST', `${WEBHOOKS}/endpoints`, { json });
    if (created.status !== 201) throw new Error(JSON.stringify(created.body));
    return (created.body as { readonly id: string }).id;
  }

  async fail(runs = 1): Promise<void> {
    await this.api.send(Array.from({ length: runs }, () => anItem({ trace: { status: 'failed' } })));
  }

  /** The only delivery to an endpoint, once the condition holds. */
  async delivery(endpoint: string, isSo: (delivery: Delivery) => boolean): Promise<Delivery> {
    let found: Delivery | undefined;
    await until('the delivery is so', async () => {
      const { items } = await this.api.get<{ items: readonly { readonly id: string }[] }>(
        `${WEBHOOKS}/endpoints/${endpoint}/deliveries`,
      );
      if (items[0] === undefined) return false;
      found = await this.api.get<Delivery>(`${WEBHOOKS}/deliveries/${items[0].id}`);
      return isSo(found);
    });
    if (found === undefined) throw new Error('there is none');
    return found;
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.running.metricsUrl}/metrics`)).text();
    return Number(new RegExp(`^jackdaw_webhook_${name} (.*)$`, 'm').exec(text)?.[1]);
  }
}

void t.test('the thread starts with the first delivery', async (t) => {
  const receiver = await startReceiver(t, (socket) => socket.write(answerText('200 OK')));
  const workers = watchWorkers(t);
  const place = await Place.start(t);
  await place.fail();
  const before = workers.length;
  const endpoint = await place.subscribe(receiver);
  t.equal(workers.length, before);
  await place.fail();
  t.match(await place.delivery(endpoint, ({ status }) => status !== 'pending'), { status: 'success' });
  t.equal(workers.length, before + 1);
  await place.fail(20);
  await until('all arrive', () => receiver.requests.length === 21);
  t.equal(workers.length, before + 1);
  await until(
    'all are reported',
    async () => (await place.metric('attempts_under_way{exporter="webhook"}')) === 0,
  );
  t.equal(await place.metric('attempts_total{exporter="webhook",result="success"}'), 21);
  t.equal(await place.metric('attempt_duration_seconds_count{exporter="webhook"}'), 21);
  t.equal(await place.metric('first_attempt_delay_seconds_count{exporter="webhook"}'), 21);
  t.same((await place.running.daemon.shutdown()).errors, []);
});

void t.test('API requests are sent immediately', async (t) => {
  const statuses = ['500 Broken', '200 OK'];
  const receiver = await startReceiver(t, (socket) =>
    socket.write(answerText(statuses.shift() ?? '204 No Content')),
  );
  const place = await Place.start(t);
  const endpoint = await place.subscribe(receiver);
  await place.fail();
  const { id } = await place.delivery(endpoint, ({ attempts }) => attempts[0]?.http_status_code === 500);
  t.equal((await place.api.call('POST', `${WEBHOOKS}/deliveries/${id}/retry`)).status, 202);
  await place.delivery(endpoint, ({ status }) => status === 'success');

  const pausing = `${WEBHOOKS}/endpoints/${endpoint}`;
  t.equal((await place.api.call('PATCH', pausing, { json: { is_active: false } })).status, 200);
  t.equal((await place.api.call('PATCH', pausing, { json: { is_active: true } })).status, 200);
  await place.fail();
  await until('it arrives', () => receiver.requests.length === 3);
});

void t.test(
  'hanging receivers are visible, aborted at the deadline and retried by the next start',
  async (t) => {
    let isHanging = true;
    const receiver = await startReceiver(t, (socket) => {
      if (!isHanging) socket.write(answerText('200 OK'));
    });
    const first = await Place.start(t);
    const endpoint = await first.subscribe(receiver);
    await first.fail(3);
    await until('they arrive', () => receiver.requests.length === 3);
    const underWay = () => first.metric('attempts_under_way{exporter="webhook"}');
    await until('all are reported', async () => (await underWay()) === 3);
    t.same((await first.running.daemon.shutdown()).errors, [], 'although none would end for an hour');
    await receiver.idle();

    isHanging = false;
    const { directory, key } = first.running;
    const second = await Place.start(t, { directory, key });
    t.match(await second.delivery(endpoint, ({ status }) => status === 'success'), {
      attempts: [
        { http_status_code: null, error_message: 'interrupted by restart' },
        { http_status_code: 200, error_message: null },
      ],
    });
    await until('all arrive', () => receiver.requests.length === 6);
  },
);

void t.test('a stop waits for responses before the deadline', async (t) => {
  const answers: (() => void)[] = [];
  const receiver = await startReceiver(t, (socket) => {
    answers.push(() => socket.write(answerText('200 OK')));
  });
  const place = await Place.start(t);
  const endpoint = await place.subscribe(receiver);
  await place.fail();
  await until('it arrives', () => answers.length === 1);
  const stopped = place.running.daemon.shutdown();
  answers[0]?.();
  t.same((await stopped).errors, []);
  const { directory, key } = place.running;
  const next = await Place.start(t, { directory, key });
  t.match(await next.delivery(endpoint, () => true), {
    status: 'success',
    attempts: [{ http_status_code: 200 }],
  });
});

void t.test('a crashed thread stops the daemon with a reason', async (t) => {
  const receiver = await startReceiver(t, () => undefined);
  const place = await Place.start(t);
  const workers = watchWorkers(t);
  await place.subscribe(receiver);
  await place.fail();
  await until('it arrives', () => receiver.requests.length === 1);
  t.equal(workers.length, 1);
  await workers[0]?.terminate();
  const { fatality, errors } = await place.running.daemon.stopped;
  t.match(fatality, {
    component: 'exporter "webhook"',
    message: /^The thread that sends webhooks ended; see the log\./,
  });
  t.same(errors, []);
  t.match(place.running.logs.join('\n'), /error The thread that sends webhooks ended\. .*ended with code/);
});
