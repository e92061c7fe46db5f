import type { LookupAddress } from 'node:dns';
import t, { type Test } from 'tap';
import { startReceiver, type Receiver } from '../../support/webhook-receiver.js';
import { WebhookService } from '../../support/webhook-service.js';

const REFUSED =
  'The host of the URL has no allowed address. Check the URL, or ask an administrator for the reason in the log.';

/** One address of each forbidden kind; all forms of each: `test/delivery/senders/webhook/hostile-targets.test.ts`. */
const LITERAL = {
  loopback: '127.0.0.1',
  'loopback as a number': '2130706433',
  'loopback in IPv6': '[::1]',
  private: '10.0.0.1',
  'private in IPv6': '[fd00::1]',
  'link-local': '169.254.0.1',
  metadata: '169.254.169.254',
  mapped: '[::ffff:127.0.0.1]',
  NAT64: '[64:ff9b::127.0.0.1]',
  'the machine by name': 'localhost',
};

const NAMED = [
  '127.0.0.1',
  '::1',
  '192.168.1.1',
  'fe80::1',
  '169.254.169.254',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
];

async function startStrict(t: Test, resolve?: () => Promise<LookupAddress[]>): Promise<WebhookService> {
  return await WebhookService.start(t, {
    overlay: 'targets: { allow_cidrs: [] }\nretry_schedule: []\nbreaker_threshold: 1000',
    ...(resolve && { resolve }),
  });
}

async function listenEverywhere(t: Test): Promise<readonly Receiver[]> {
  const ipv4 = await startReceiver(t);
  return [ipv4, await startReceiver(t, undefined, { address: '::1', port: ipv4.port })];
}

/** The record of the single attempt to a URL. */
async function attemptAt(t: Test, service: WebhookService, url: string): Promise<string | null> {
  const { id } = await service.addEndpoint(url);
  await service.emit();
  const [delivery] = await service.settled(id, 1);
  await service.control.endpoints.delete(service.slug, id);
  t.match(delivery, { status: 'failed', attempts: [{ http_status_code: null, response_body: '' }] }, url);
  return delivery?.attempts[0]?.error_message ?? null;
}

void t.test('rejects stored URLs that are no longer allowed', async (t) => {
  const receivers = await listenEverywhere(t);
  const service = await startStrict(t);
  for (const [what, host] of Object.entries(LITERAL)) {
    const error = await attemptAt(t, service, `https://${host}:${receivers[0]?.port ?? 0}/`);
    t.match(
      error,
      /^The endpoint’s URL must be reachable from the public internet: .* is not allowed$/,
      what,
    );
  }
  t.equal(await attemptAt(t, service, 'http://hook.test/'), 'The endpoint’s URL must be an https URL');
  t.equal(
    await attemptAt(t, service, 'https://hook.test:22/'),
    'The endpoint’s URL must not use port 22: it belongs to another protocol than HTTPS',
  );
  for (const { traffic } of receivers) t.strictSame(traffic, { connections: 0, bytes: 0 });
  const { text } = await service.settings.meter.print();
  t.match(text, /jackdaw_webhook_attempts_total{exporter="webhook",result="blocked"} 12\n/);
});

void t.test('rejects names with forbidden addresses', async (t) => {
  const receivers = await listenEverywhere(t);
  let address = '';
  const service = await startStrict(t, async () => [{ address, family: address.includes(':') ? 6 : 4 }]);
  for (address of NAMED)
    t.equal(await attemptAt(t, service, `https://hook.test:${receivers[0]?.port ?? 0}/`), REFUSED, address);
  for (const { traffic } of receivers) t.strictSame(traffic, { connections: 0, bytes: 0 });
  t.match(service.settings.logger.lines.join('\n'), /its address is not allowed.*hook\.test is 127\.0\.0\.1/);
});

void t.test('checks a name again at each attempt', async (t) => {
  const receiver = await startReceiver(t);
  const addresses = ['127.0.0.1', '10.1.1.1'];
  const service = await WebhookService.start(t, {
    overlay: 'retry_schedule: []',
    resolve: async () => [{ address: addresses.shift() ?? '', family: 4 }],
  });
  const { id } = await service.addEndpoint(receiver.url);
  await service.emit();
  t.match(await service.settled(id, 1), [{ status: 'success' }]);
  await receiver.idle();
  await service.emit();
  t.match(await service.settled(id, 2), [
    { status: 'failed', attempts: [{ error_message: REFUSED }] },
    { status: 'success' },
  ]);
  t.equal(receiver.requests.length, 1);
});
