import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { DeliveryDetail } from '../../../src/storage/contracts/deliveries.js';
import { FAULTY_ANSWERS } from '../../support/faulty-answers.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../support/http-certificate.js';
import { until } from '../../support/until.js';
import { EXPIRED } from '../../support/webhook-certificates.js';
import { startReceiver } from '../../support/webhook-receiver.js';
import { WebhookService } from '../../support/webhook-service.js';

/** Faults are tried once, in sequence, without pausing the endpoint. */
const ONCE = 'retry_schedule: []\nbreaker_threshold: 1000';

/** Delivers one event to a URL. @param meanwhile runs during the attempt */
async function deliver(
  service: WebhookService,
  url: string,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<DeliveryDetail | undefined> {
  const { id } = await service.addEndpoint(url);
  await service.emit();
  await meanwhile();
  const [delivery] = await service.settled(id, 1);
  await service.control.endpoints.delete(service.slug, id);
  return delivery;
}

function failure(error: string | null, status: number | null = null): object {
  return {
    status: 'failed',
    attempt_count: 1,
    attempts: [
      {
        attempt_number: 1,
        http_status_code: status,
        duration_ms: Number,
        attempted_at: Number,
        error_message: error,
      },
    ],
  };
}

void t.test('each faulty response has its record', async (t) => {
  const service = await WebhookService.start(t, { overlay: ONCE });
  for (const { what, answer, expected } of FAULTY_ANSWERS) {
    const receiver = await startReceiver(t, answer);
    const found = await deliver(service, receiver.url);
    const { succeeded, statusCode, responseBody, error } = expected;
    const hasAnswer = found?.attempts[0]?.http_status_code !== null;
    t.match(
      found?.attempts,
      [
        {
          ...(statusCode !== undefined && { http_status_code: statusCode }),
          ...(error !== undefined && { error_message: hasAnswer ? error : NO_ANSWER }),
          attempt_number: 1,
          duration_ms: Number,
        },
      ],
      what,
    );
    // Compared literally: the expected text may be a part of the actual one.
    if (responseBody !== undefined) t.equal(found?.attempts[0]?.response_body, responseBody, what);
    if (succeeded !== undefined) t.equal(found?.status, succeeded ? 'success' : 'failed', what);
    t.equal(receiver.requests.length, 1);
  }
});

void t.test('aborts endless receivers and keeps the received part', async (t) => {
  const service = await WebhookService.start(t, { overlay: ONCE });
  const silent = await startReceiver(t, () => undefined);
  const timeOut = (receiver: { requests: readonly unknown[] }) => async (): Promise<void> => {
    await until('it arrives', () => receiver.requests.length === 1);
    service.clock.advance(15_000);
  };
  t.match(await deliver(service, silent.url, timeOut(silent)), failure(NO_ANSWER));

  let dripped = 0;
  const dripping = await startReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
    const timer = setInterval(() => {
      socket.write('drip ');
      // The response has arrived: without it there is no body to wait for.
      if (++dripped === 50) service.clock.advance(15_000);
    }, 1);
    socket.on('close', () => {
      clearInterval(timer);
    });
  });
  const found = await deliver(service, dripping.url);
  t.match(found, failure('The response was not complete within 15000 ms', 200));
  t.match(found?.attempts[0]?.response_body, /^(drip ?)+/);
  const { text } = await service.settings.meter.print();
  t.match(text, /jackdaw_webhook_attempts_total{exporter="webhook",result="timed_out"} 2\n/);
});

/** A TCP server without TLS. */
async function startTcp(t: Test, onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    t.teardown(() => socket.destroy());
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

const NO_ADDRESS =
  'The host of the URL has no allowed address. Check the URL, or ask an administrator for the reason in the log.';
const NO_ANSWER =
  'No valid HTTPS response arrived in time. Check the URL, the certificate and the receiver, or ask an administrator for the reason in the log.';

void t.test('without a response the record hides the cause, and the log has it', async (t) => {
  const names = ['127.0.0.1'];
  const service = await WebhookService.start(t, {
    overlay: ONCE,
    resolve: async (hostname) => {
      if (hostname === 'nowhere.test') throw Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' });
      return names.map((address) => ({ address, family: 4 }));
    },
  });
  const stranger = await startReceiver(t, undefined, { cert: TEST_CERTIFICATE, key: TEST_KEY });
  t.match(await deliver(service, stranger.url), failure(NO_ANSWER));
  const expired = await startReceiver(t, undefined, { cert: EXPIRED });
  t.match(await deliver(service, expired.url), failure(NO_ANSWER));
  const other = await startReceiver(t);
  t.match(await deliver(service, `https://other.test:${other.port}/`), failure(NO_ANSWER));
  const plain = await startTcp(t, (socket) => socket.end('HTTP/1.1 400 Speak plainly\r\n\r\n'));
  t.match(await deliver(service, `https://hook.test:${plain}/`), failure(NO_ANSWER));
  const resetting = await startTcp(t, (socket) => socket.resetAndDestroy());
  t.match(await deliver(service, `https://hook.test:${resetting}/`), failure(NO_ANSWER));
  const hanging = await startTcp(t, () => {
    service.clock.advance(5000);
  });
  t.match(await deliver(service, `https://hook.test:${hanging}/`), failure(NO_ANSWER));
  t.match(await deliver(service, 'https://nowhere.test/'), failure(NO_ADDRESS));
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  t.match(await deliver(service, `https://hook.test:${port}/`), failure(NO_ANSWER));
  for (const { requests } of [stranger, expired, other]) t.strictSame(requests, []);
  const log = service.settings.logger.lines.join('\n');
  t.match(log, /warn A webhook got no response.*The receiver’s certificate is not trusted/);
});
