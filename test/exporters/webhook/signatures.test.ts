import t from 'tap';
import { answerText, startReceiver, type Answer } from '../../support/webhook-receiver.js';
import { WebhookService } from '../../support/webhook-service.js';
import { setReceiversClock, VERIFIERS, type SignedRequest } from '../../support/webhook-verifiers.js';
import { until } from '../../support/until.js';

const keepOpen: Answer = (socket) => socket.write(answerText('204 No Content'));

/** Asserts that all verifiers accept or all reject a request. */
function verify(t: Tap, request: SignedRequest, secret: string, isGood: boolean, what: string): void {
  for (const [name, check] of VERIFIERS) {
    const checked = (): unknown => check(request, secret);
    if (isGood) t.doesNotThrow(checked, `${name} accepts ${what}`);
    else t.throws(checked, `${name} rejects ${what}`);
  }
}
type Tap = Pick<typeof t, 'doesNotThrow' | 'throws'>;

void t.test('valid signatures are accepted; altered, delayed or outdated ones are not', async (t) => {
  const receiver = await startReceiver(t, keepOpen);
  const service = await WebhookService.start(t);
  const { id, secret } = await service.addEndpoint(receiver.url);
  const arrived = async (count: number): Promise<SignedRequest> => {
    await until('it arrives', () => receiver.requests.length === count);
    const { headers = {}, body = Buffer.alloc(0) } = receiver.requests[count - 1] ?? {};
    return { headers, body: body.toString('utf8') };
  };
  const [event] = await service.emit(1, 'trace.failed', { name: 'Bericht – 日本 \u2028 😀 "\\' });
  const request = await arrived(1);
  t.equal(request.body, event?.body, 'the bytes of the event');
  t.match(request.headers, {
    'content-type': 'application/json',
    'user-agent': /^Jackdaw-Webhooks\/\d+\.\d+\.\d+/,
    'x-service-event': 'trace.failed',
    'x-service-attempt': '1',
    'webhook-id': event?.id,
  });
  const [delivery] = await service.settled(id, 1);
  t.equal(request.headers['x-service-delivery'], delivery?.id);
  const seconds = Number(request.headers['webhook-timestamp']);
  verify(t, request, secret, true, 'what came');
  verify(t, { ...request, body: request.body.replace('failed', 'fatled') }, secret, false, 'another body');
  verify(t, { ...request, body: `${request.body}\n` }, secret, false, 'a longer body');
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      value.replace(String(seconds), String(seconds + 1)),
    ]),
  );
  verify(t, { ...request, headers }, secret, false, 'another time');

  const rotated = await service.rotate(id);
  await service.emit();
  const next = await arrived(2);
  verify(t, next, rotated, true, 'what is signed with the new secret');
  verify(t, next, secret, false, 'it with the old secret');
  verify(t, request, rotated, false, 'what was signed with the old one');

  setReceiversClock(t, seconds + 301);
  verify(t, request, secret, false, 'what is old');
});

void t.test('a later retry is signed again with the current secret', async (t) => {
  const receiver = await startReceiver(t, (socket) => socket.write(answerText('500 Later')));
  const service = await WebhookService.start(t, { overlay: 'retry_schedule: [10h]' });
  const { id, secret } = await service.addEndpoint(receiver.url);
  await service.emit();
  await service.attempted(id, 1);
  const rotated = await service.rotate(id);
  service.clock.advance(10 * 3_600_000);
  await service.settled(id, 1);
  const [first, second] = receiver.requests.map(({ headers, body }) => ({ headers, body: body.toString() }));
  if (!first || !second) throw new Error('two requests');
  t.equal(second.body, first.body);
  t.equal(second.headers['webhook-id'], first.headers['webhook-id']);
  t.equal(second.headers['x-service-delivery'], first.headers['x-service-delivery']);
  t.equal(second.headers['x-service-attempt'], '2');
  verify(t, first, secret, true, 'the first attempt');
  setReceiversClock(t, Date.now() / 1000 + 36_000);
  verify(t, second, rotated, true, 'the second attempt');
  verify(t, second, secret, false, 'the second attempt with the old secret');
});
