import t, { type Test } from 'tap';
import type { SMTPServerOptions } from 'smtp-server';
import { Mailer } from '../../../src/delivery/senders/email/mailer.js';
import { alertMail } from '../../../src/exporters/alerts/alert-mail.js';
import type { Channel } from '../../../src/exporters/alerts/channel.js';
import { EmailChannel } from '../../../src/exporters/alerts/email-channel.js';
import { Notifier } from '../../../src/exporters/alerts/notifier.js';
import { freePort } from '../../support/free-port.js';
import { HandClock } from '../../support/hand-clock.js';
import { startMails } from '../../support/mail-server.js';
import { firedEnvelope, PlacedNotices } from '../../support/placed-notices.js';
import { ODD_TEXTS } from '../../support/odd-texts.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';

const MINUTE_MS = 60_000;
const none: Channel = {
  toSkip: () => null,
  skipped: () => undefined,
  send: () => {
    throw new Error('there are no webhooks in this test');
  },
};

/** Sends notices by e-mail to a server. @param port null: not configured */
async function startEmail(t: Test, port: number | null) {
  const clock = new HandClock();
  const logger = new RecordingLogger();
  const store = await PlacedNotices.open(t, clock);
  const smtp = {
    ...{ host: '127.0.0.1', port: port ?? 0, secure: false, requireTls: false, login: null },
    from: 'Jackdaw <jackdaw@example.com>',
  };
  const mailer = port === null ? null : new Mailer({ smtp, clock });
  const results: string[] = [];
  const tools = { clock, logger, random: () => 0.5 };
  const notifier = new Notifier({
    ...tools,
    notices: store.notices,
    watch: store.watch,
    channels: { webhook: none, email: new EmailChannel({ ...tools, mailer }) },
    onStore: () => undefined,
    onResult: (...result) => results.push(result.join(' ')),
  });
  t.teardown(async () => {
    await notifier.stop(AbortSignal.abort());
    mailer?.close();
  });
  const recorded = async (count: number) => {
    await until(`${count} results`, () => {
      clock.advance(1);
      return store.results.length === count;
    });
    return store.results.at(-1);
  };
  return { clock, logger, store, results, recorded };
}

/** A mail server that answers recipients as a test defines. */
async function startAnswering(t: Test, answers: readonly (readonly [code: number, text: string] | null)[]) {
  let asked = 0;
  const onRcptTo: SMTPServerOptions['onRcptTo'] = (_address, _session, done) => {
    const answer = answers[asked++];
    done(answer ? Object.assign(new Error(answer[1]), { responseCode: answer[0] }) : null);
  };
  return await startMails(t, { onRcptTo });
}

void t.test('sends a notice to the address of its user', async (t) => {
  const mails = await startMails(t);
  const { store, clock, recorded, results } = await startEmail(t, mails.port);
  await store.put('email', clock.now());
  t.match(await recorded(1), {
    status: 'sent',
    detail: null,
    attempt: { attempt_number: 1, status_code: 250, error_message: null },
    retryAt: null,
  });
  const [mail] = mails.received;
  t.match(mail, {
    id: '<0196f000-0000-7000-8000-000000000001.alert@example.com>',
    to: ['somebody@example.org'],
  });
  t.match(mail?.text, /\r\nSubject: Alert: failure rate of planner is 52 % \(above 20 %\)\r\n/);
  t.strictSame(results, ['email sent']);
});

void t.test('retries the same mail later after 451', async (t) => {
  const mails = await startAnswering(t, [[451, '4.3.0 Later'], null]);
  const { store, clock, recorded, results } = await startEmail(t, mails.port);
  await store.put('email', clock.now());
  const first = await recorded(1);
  t.match(first, {
    status: 'pending',
    detail: 'The mail server answered: 451 4.3.0 Later',
    attempt: {
      attempt_number: 1,
      status_code: 451,
      error_message: 'The mail server answered: 451 4.3.0 Later',
    },
  });
  const waitMs = Math.round(((first?.retryAt ?? 0) - clock.now()) / 1000 / MINUTE_MS);
  t.equal(waitMs, 1, 'one minute');
  clock.advance(MINUTE_MS);
  t.match(await recorded(2), { status: 'sent', attempt: { attempt_number: 2 } });
  t.equal(mails.received.length, 1);
  t.strictSame(results, ['email pending', 'email sent']);
});

void t.test('does not retry after 550', async (t) => {
  const mails = await startAnswering(t, [[550, '5.1.1 No such user']]);
  const { store, clock, recorded, logger } = await startEmail(t, mails.port);
  await store.put('email', clock.now());
  t.match(await recorded(1), {
    status: 'failed',
    detail: 'The mail server answered: 550 5.1.1 No such user',
    attempt: { status_code: 550 },
    retryAt: null,
  });
  clock.advance(24 * 60 * MINUTE_MS);
  t.equal(store.results.length, 1);
  t.match(logger.lines.join('\n'), /A notice could not be sent by e-mail/);
});

void t.test('retries an unreachable server five times', async (t) => {
  const { store, clock, recorded } = await startEmail(t, await freePort());
  await store.put('email', clock.now());
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 6; attempt++) {
    const result = await recorded(attempt);
    t.match(result, { detail: 'The mail server refused the connection', attempt: { status_code: null } });
    if (!result || result.retryAt === null) break;
    const waitMs = (result.retryAt - (result.attempt?.attempted_at ?? 0)) / 1000;
    waits.push(Math.round(waitMs / MINUTE_MS));
    clock.advance(waitMs);
  }
  t.strictSame(waits, [1, 5, 30, 120, 360]);
  t.match(store.results.at(-1), { status: 'failed', attempt: { attempt_number: 6 }, retryAt: null });
});

void t.test('without a mail server skips notices and logs it', async (t) => {
  const { store, clock, logger } = await startEmail(t, null);
  await store.put('email', clock.now());
  await until('it is skipped', () => store.skipped === 1);
  t.match(await store.outcomes(), [{ status: 'skipped', detail: 'smtp_not_configured', attempts: [] }]);
  t.match(logger.lines.join('\n'), /no mail server is configured \(smtp\.host\)/);
});

void t.test('limits a user to 20 mails an hour without affecting others', async (t) => {
  const mails = await startMails(t);
  const { store, clock, recorded } = await startEmail(t, mails.port);
  for (let i = 0; i < 25; i++) await store.put('email', clock.now());
  await store.put('email', clock.now(), { user: 'another', email: 'another@example.org' });
  await until('all are settled', () => {
    clock.advance(1);
    return store.results.length + store.skipped === 26;
  });
  t.equal(mails.received.length, 21);
  const skipped = (await store.outcomes()).filter(({ status }) => status === 'skipped');
  t.strictSame(
    skipped,
    Array.from({ length: 5 }, () => {
      return { channel: 'email', status: 'skipped', detail: 'too_many_emails', attempts: [] };
    }),
  );
  const { length } = store.results;
  clock.advance(60 * MINUTE_MS);
  await store.put('email', clock.now());
  t.match(await recorded(length + 1), { status: 'sent' });
});

void t.test('the subject matches the type of alert', async (t) => {
  const subject = (data: object) => alertMail(firedEnvelope('an event', data)).subject;
  t.equal(
    subject({ type: 'latency_threshold', threshold: 1000, value: 1234.5678 }),
    'Alert: p95 latency of planner is 1234.5678 ms (above 1000 ms)',
  );
  t.equal(
    subject({ type: 'cost_threshold', threshold: 10, value: 12.5 }),
    'Alert: daily cost of planner is 12.5 USD (above 10 USD)',
  );
  t.equal(
    subject({ type: 'cost_threshold', threshold: 1_234_567, value: 1_234_567.89 }),
    'Alert: daily cost of planner is 1234567.89 USD (above 1234567 USD)',
  );
  t.equal(
    subject({ type: 'inactivity', threshold: 24, value: 26.5 }),
    'Alert: inactivity of planner is 26.5 hours (above 24 hours)',
  );
  const service = { agent_id: null, agent_name: null, target_service: 'db:postgres' };
  t.equal(subject(service), 'Alert: failure rate of db:postgres is 52 % (above 20 %)');
  const composite = {
    ...{ type: 'composite', threshold: 0, value: null, repeat: 2, example_trace_ids: [] },
    conditions: [
      { type: 'failure_rate', source: 'ai', threshold: 0.2, observed: 0.5, met: true },
      {
        type: 'metric_threshold',
        source: 'infra',
        metric_name: 'cpu',
        operator: 'gte',
        value: 0.9,
        observed: null,
        met: false,
      },
    ],
  };
  t.equal(subject(composite), 'Alert: the conditions of planner are met');
  t.equal(
    alertMail(firedEnvelope('an event', composite)).text,
    `The conditions of planner are met.

Fired at:  2026-01-15T12:00:00Z
Window:    2026-01-15T11:00:00Z to 2026-01-15T12:00:00Z
Samples:   25
Agent id:  0196f000-0000-7000-8000-00000000bbbb
Alert id:  0196f000-0000-7000-8000-00000000aaaa
Repeats:   2 (earlier firings of this incident)

Conditions:
- failure rate > 20 %: it is 50 %, met
- cpu >= 0.9: no data, not met
`,
  );
});

void t.test('names cannot add lines to subject or text', async (t) => {
  const names = [
    ...ODD_TEXTS,
    'x\r\nBcc: evil@example.com\r\n\r\nbody',
    '\u202Egnp.exe',
    'x'.repeat(1024),
    '\uD800',
  ];
  const test = alertMail(firedEnvelope('an event', { is_test: true }));
  t.match(test.subject, /^Test of an alert: /);
  t.match(test.text, /^This is a test of the notification: the alert did not fire\./);
  const lines = alertMail(firedEnvelope('an event')).text.split('\n').length;
  for (const [index, agent_name] of names.entries()) {
    const { subject, text } = alertMail(firedEnvelope('an event', { agent_name }));
    t.notMatch(subject, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u, `subject ${index}`);
    t.ok(subject.length <= 121 && subject.startsWith('Alert: failure rate of '), `length ${index}`);
    t.notMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u, `text ${index}`);
    t.equal(text.split('\n').length, lines, `lines ${index}`);
  }
  const mails = await startMails(t);
  const { store, clock, recorded } = await startEmail(t, mails.port);
  const agent_name = 'x\r\nBcc: evil@example.com\r\n\r\nbody';
  await store.put('email', clock.now(), { data: { agent_name } });
  await recorded(1);
  t.strictSame(mails.received[0]?.to, ['somebody@example.org']);
  t.notMatch(mails.received[0]?.text, /^bcc:/im);
  t.match(mails.received[0]?.text, /^Subject: Alert: failure rate of x Bcc: evil@example.com body is/m);
});
