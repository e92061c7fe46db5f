import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { pause, send } from '../../support/http-listener.js';
import { projectFolder } from '../../support/project-file.js';
import { testFolder } from '../../support/test-folder.js';
import { AUTHORITY } from '../../support/webhook-certificates.js';
import { answerText, startReceiver } from '../../support/webhook-receiver.js';

const WEBHOOKS = '/org/default/webhooks';

interface Detail {
  readonly status: string;
  readonly attempts: readonly { readonly http_status_code: number | null; readonly response_body: string }[];
}

void t.test('a test delivery arrives, verifies and is shown as sent', async (t) => {
  const { verify } = (await import(
    pathToFileURL(join(projectFolder(), 'plugins/webhook-receiver/verify.mjs')).href
  )) as { readonly verify: (body: Buffer, signature: string | undefined, secret: string) => boolean };
  const statuses = ['500 Oops', '200 OK'];
  const receiver = await startReceiver(t, (socket) =>
    socket.end(answerText(statuses.shift() ?? '204 No Content', [], statuses.length > 0 ? 'not yet' : '')),
  );
  const directory = testFolder(t);
  const caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, AUTHORITY);
  const targets = { allow_cidrs: ['127.0.0.0/8'], ca_file: caFile };
  // Failed deliveries are not retried during the test.
  const webhook = { targets, retry_schedule: ['1h'] };
  const overlay = JSON.stringify({ exporters: { webhook } });
  const { url, key } = await startTestDaemon(t, { directory, overlay });
  const api = new ApiCaller(url, key);
  const created = await api.call('POST', `${WEBHOOKS}/endpoints`, {
    json: { url: `https://127.0.0.1:${receiver.port}/hook`, name: '日本 \u2028', event_types: ['none.such'] },
  });
  t.equal(created.status, 201, 'its network is allowed');
  const { id, secret } = created.body as { readonly id: string; readonly secret: string };
  const place = `${WEBHOOKS}/endpoints/${id}`;
  const tested = await api.call('POST', `${place}/test`);
  const { delivery_id: delivery } = tested.body as { readonly delivery_id: string };
  t.match(tested, { status: 202, body: { queued: true } });
  const list = async () =>
    (await api.get<{ readonly items: readonly object[] }>(`${place}/deliveries`)).items;
  t.match(await list(), [{ id: delivery, event_type: 'webhook.test' }], 'listed immediately');
  const detail = `${WEBHOOKS}/deliveries/${delivery}`;
  const attempted = async (times: number): Promise<Detail> => {
    for (;;) {
      const now = await api.get<Detail>(detail);
      if (now.attempts.filter((attempt) => attempt.http_status_code !== null).length === times) return now;
      await pause();
    }
  };
  t.match(await attempted(1), {
    status: 'pending',
    attempts: [{ http_status_code: 500, response_body: 'not yet', error_message: null }],
  });
  const rotated = await api.call('POST', `${place}/rotate-secret`);
  const { secret: fresh } = rotated.body as { readonly secret: string };
  t.match(await api.call('POST', `${detail}/retry`), { status: 202, body: { delivery_id: delivery } });
  t.match(await attempted(2), {
    status: 'success',
    attempts: [{ http_status_code: 500 }, { http_status_code: 200 }],
  });

  const [first, second] = receiver.requests;
  if (!first || !second) throw new Error('both came');
  const body = second.body.toString();
  const event = JSON.parse(body) as { readonly id: string; readonly data: object };
  t.match(event, {
    type: 'webhook.test',
    data: { endpoint_id: id, endpoint_name: '日本 \u2028', organization: 'default' },
  });
  for (const [attempt, { headers, line, body: bytes }] of [first, second].entries()) {
    t.match(line, /^POST \/hook /);
    t.strictSame(bytes, first.body, 'every attempt has the same bytes');
    t.match(headers, {
      'webhook-id': event.id,
      'x-service-delivery': delivery,
      'x-service-event': 'webhook.test',
      'x-service-attempt': String(attempt + 1),
    });
    const signature = headers['x-service-signature'];
    t.equal(verify(bytes, signature, secret), attempt === 0, 'the first secret');
    t.equal(verify(bytes, signature, fresh), attempt === 1, 'the secret after rotation');
  }
  const shown = await send(`${url}/api/v1${detail}`, { headers: { authorization: `Bearer ${key}` } });
  t.ok(shown.body.includes(`"request_body":${body},`), 'the shown body is the received one');
  t.equal((await list()).length, 1, 'the earlier event was processed first');
});
