import t, { type Test } from 'tap';
import { Mailer } from '../../src/delivery/senders/email/mailer.js';
import { AddressPolicy } from '../../src/delivery/senders/webhook/address-policy.js';
import { EmailChannel } from '../../src/exporters/alerts/email-channel.js';
import { startNotifier } from '../../src/exporters/alerts/notifier.js';
import { WebhookChannel } from '../../src/exporters/alerts/webhook-channel.js';
import { aFiring, anAlert } from '../storage/alert-records.js';
import { aUser } from '../storage/meta-records.js';
import { openAlerts } from '../storage/opened-alerts.js';
import { startMails } from '../support/mail-server.js';
import { firedEnvelope } from '../support/memory-notices.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { until } from '../support/until.js';
import { answerText, startReceiver } from '../support/webhook-receiver.js';
import { startSender } from '../support/webhook-sender.js';

/** Notices of a store's own tables, which are sent to a receiver that hangs where a path says so, and to a mail server. */
async function startSending(t: Test, hasMails: boolean) {
  const opened = await openAlerts(t);
  const { tables, alerts } = opened;
  const mails = await startMails(t);
  const receiver = await startReceiver(t, (socket, { line }) => {
    if (!line.includes('/hangs')) socket.end(answerText('200 OK'));
  });
  const policy = new AddressPolicy(['127.0.0.1/32']);
  const { sender, clock } = await startSender(t, { policy });
  const logger = new RecordingLogger();
  const tools = { clock, logger, random: () => 0.5 };
  const server = { host: '127.0.0.1', port: mails.port, secure: false, requireTls: false, login: null };
  const mailer = hasMails ? new Mailer({ smtp: { ...server, from: 'j@example.com' }, clock }) : null;
  const told: string[] = [];
  const other = aUser();
  await tables.createUser(other);
  const { data } = JSON.parse(firedEnvelope('an event')) as { data: object };
  /** Fires new alerts of a user. */
  const fire = async (userId: string, path: string, count: number) => {
    const url = `${receiver.url}${path}`;
    const firings = [];
    for (let i = 0; i < count; i++) {
      const alert = anAlert({ channel: 'both', webhook_url: url });
      const { rule } = await alerts.createAlert(userId, alert, Infinity);
      firings.push(aFiring(rule, { firedAt: clock.now(), data }));
    }
    await alerts.recordFirings(firings);
  };
  await fire(opened.user.id, '/hangs', 200);
  clock.advance(1000);
  await fire(other.id, '/answers', 1);
  const notifier = startNotifier({
    ...tools,
    store: {
      dueNotifications: (request) => alerts.dueNotifications(request),
      skipNotifications: (request) => alerts.skipNotifications(request),
      finishNotifications: (results) => alerts.finishNotifications(results),
      watchNotifications: () => () => undefined,
    },
    channels: {
      email: new EmailChannel({ ...tools, mailer }),
      webhook: new WebhookChannel({ ...tools, sender, policy, secret: null, version: '1.2.3' }),
    },
    onStore: () => undefined,
    onResult: (...result) => told.push(result.join(' ')),
  });
  t.teardown(async () => {
    await notifier.stop(AbortSignal.abort());
    mailer?.close();
  });
  return {
    ...{ clock, mails, logger, other },
    posts: (path: string) => receiver.requests.filter(({ line }) => line.includes(path)).length,
    told: (result: string) => told.filter((one) => one === result).length,
  };
}

void t.test('one user’s receiver that hangs and mails without end hold up nobody else', async (t) => {
  const { clock, mails, other, posts, told, logger } = await startSending(t, true);
  // No time passes: the other user is among the first.
  await until('the other user’s webhook has come', () => posts('/answers') === 1);
  await until('the other user’s mail has come', () =>
    mails.received.some(({ to }) => to.includes(other.email)),
  );
  await until('the rest of the mails are settled', () => {
    clock.advance(1);
    return told('email sent') + told('email skipped') === 201;
  });
  t.equal(mails.received.length, 21);
  t.equal(told('email skipped'), 180);
  t.match(logger.lines.join('\n'), /their users had 20 within an hour.*"?items"?/);
  t.equal(posts('/hangs'), 4);
  t.equal(posts('/answers'), 1);
});

void t.test('without a mail server all mails are settled at once', async (t) => {
  const { mails, posts, told } = await startSending(t, false);
  await until('the other user’s webhook has come', () => posts('/answers') === 1);
  t.equal(told('email skipped'), 201);
  t.equal(mails.received.length, 0);
  await until('the receiver hangs', () => posts('/hangs') === 4);
});
