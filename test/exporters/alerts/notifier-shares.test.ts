import t, { type Test } from 'tap';
import { Mailer } from '../../../src/delivery/senders/email/mailer.js';
import { AddressPolicy } from '../../../src/delivery/senders/webhook/address-policy.js';
import { generateSecret } from '../../../src/delivery/senders/webhook/signature.js';
import { EmailChannel } from '../../../src/exporters/alerts/email-channel.js';
import { Notifier } from '../../../src/exporters/alerts/notifier.js';
import { WebhookChannel } from '../../../src/exporters/alerts/webhook-channel.js';
import { aUser } from '../../storage/duckdb/meta-records.js';
import { openControlStore } from '../../support/control-store.js';
import { aDecision, addRule } from '../../support/kept-rules.js';
import { startMails } from '../../support/mail-server.js';
import { firedEnvelope } from '../../support/placed-notices.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';
import { answerText, startReceiver } from '../../support/webhook-receiver.js';
import { startSender } from '../../support/webhook-sender.js';

/** Notices of a control store, sent to a mail server and to a receiver that hangs on one path. */
async function startSending(t: Test, hasMails: boolean) {
  const mails = await startMails(t);
  const receiver = await startReceiver(t, (socket, { line }) => {
    if (!line.includes('/hangs')) socket.end(answerText('200 OK'));
  });
  const secret = generateSecret();
  const policy = new AddressPolicy(['127.0.0.1/32']);
  const { sender, clock } = await startSender(t, { policy });
  const logger = new RecordingLogger();
  const control = await openControlStore(t, { clock });
  const tools = { clock, logger, random: () => 0.5 };
  const server = { host: '127.0.0.1', port: mails.port, secure: false, requireTls: false, login: null };
  const mailer = hasMails ? new Mailer({ smtp: { ...server, from: 'j@example.com' }, clock }) : null;
  const results: string[] = [];
  const [one, other] = [aUser(), aUser()];
  for (const user of [one, other]) await control.accounts.createUser(user);
  const { data } = JSON.parse(firedEnvelope('an event')) as { data: object };
  /** Fires new alerts of a user. */
  const fire = async (userId: string, path: string, count: number) => {
    const url = `${receiver.url}${path}`;
    const firings = [];
    for (let i = 0; i < count; i++) {
      const rule = await addRule(control, userId, { channel: 'both', webhook_url: url });
      firings.push(aDecision(rule, { firedAt: clock.now(), data }));
    }
    await control.alerts.recordFirings(firings);
  };
  await fire(one.id, '/hangs', 200);
  clock.advance(1000);
  await fire(other.id, '/answers', 1);
  const notifier = new Notifier({
    ...tools,
    notices: control.notices,
    watch: control.watch,
    channels: {
      email: new EmailChannel({ ...tools, mailer }),
      webhook: new WebhookChannel({
        ...tools,
        sender,
        policy,
        secretOf: async () => secret,
        version: '1.2.3',
      }),
    },
    onStore: () => undefined,
    onResult: (...result) => results.push(result.join(' ')),
  });
  t.teardown(async () => {
    await notifier.stop(AbortSignal.abort());
    mailer?.close();
  });
  return {
    ...{ clock, mails, logger, other },
    posts: (path: string) => receiver.requests.filter(({ line }) => line.includes(path)).length,
    results: (result: string) => results.filter((one) => one === result).length,
  };
}

void t.test('a hanging receiver and endless mails of one user delay no others', async (t) => {
  const { clock, mails, other, posts, results, logger } = await startSending(t, true);
  // The clock stands still: the other user is among the first.
  await until('the other user’s webhook has come', () => posts('/answers') === 1);
  await until('the other user’s mail has come', () =>
    mails.received.some(({ to }) => to.includes(other.email)),
  );
  await until('the rest of the mails are settled', () => {
    clock.advance(1);
    return results('email sent') + results('email skipped') === 201;
  });
  t.equal(mails.received.length, 21);
  t.equal(results('email skipped'), 180);
  t.match(logger.lines.join('\n'), /the limit is 20 per user and hour.*"?items"?/);
  t.equal(posts('/hangs'), 4);
  t.equal(posts('/answers'), 1);
});

void t.test('without a mail server all mails are settled immediately', async (t) => {
  const { mails, posts, results } = await startSending(t, false);
  await until('the other user’s webhook has come', () => posts('/answers') === 1);
  t.equal(results('email skipped'), 201);
  t.equal(mails.received.length, 0);
  await until('the receiver hangs', () => posts('/hangs') === 4);
});
