import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { SmtpSettings } from '../../../src/component/smtp.js';
import { Mailer, type Mail, type MailResult } from '../../../src/delivery/senders/email/mailer.js';
import { freePort } from '../../support/free-port.js';
import { HandClock } from '../../support/hand-clock.js';
import { startMails } from '../../support/mail-server.js';
import { ODD_TEXTS } from '../../support/odd-texts.js';
import { AUTHORITY, RECEIVER_KEY, VALID } from '../../support/webhook-certificates.js';

const NEVER = new AbortController().signal;
const MAIL: Mail = {
  to: 'somebody@example.org',
  subject: 'Alert: failure rate of planner is 52 % (above 20 %)',
  text: 'Failure rate of "planner" is 52 % (above 20 %).\n',
  messageName: '0196f000-0000-7000-8000-000000000001.alert',
};
const PASSWORD = 'a password of length';

function startMailer(
  t: Pick<Test, 'teardown'>,
  port: number,
  smtp: Partial<SmtpSettings> = {},
  trusted?: string[],
) {
  const clock = new HandClock();
  const mailer = new Mailer({
    smtp: {
      host: '127.0.0.1',
      port,
      secure: false,
      requireTls: false,
      login: null,
      from: 'Jackdaw <jackdaw@alerts.example.com>',
      ...smtp,
    },
    clock,
    trusted,
  });
  t.teardown(() => {
    mailer.close();
  });
  return { mailer, clock, send: (mail: Partial<Mail> = {}) => mailer.send({ ...MAIL, ...mail }, NEVER) };
}

/** A mail server response for `smtp-server`. */
const answer = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode });

/** A server below SMTP. @param greet handles a connection */
async function startRaw(
  t: Test,
  greet: (socket: Socket) => void,
): Promise<{ port: number; connected: Promise<void> }> {
  const sockets: Socket[] = [];
  let connect = (): void => undefined;
  const connected = new Promise<void>((resolve) => (connect = resolve));
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    greet(socket);
    connect();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connected };
}

/** The header lines of a mail without continuation lines. */
const headersOf = (text: string): readonly string[] => {
  const [head = ''] = text.split('\r\n\r\n', 1);
  return head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
};

/** A result without its duration. */
const summarize = ({ kind, statusCode, error }: MailResult) => ({ kind, statusCode, error });

void t.test('sends a mail with exactly these headers', async (t) => {
  const mails = await startMails(t);
  const { send } = startMailer(t, mails.port);
  t.match(await send(), { kind: 'sent', statusCode: 250, error: null });
  t.strictSame(
    [...headersOf(mails.received[0]?.text ?? '')].sort(),
    [
      'Auto-Submitted: auto-generated',
      'Content-Transfer-Encoding: 7bit',
      'Content-Type: text/plain; charset=utf-8',
      'Date: Thu, 15 Jan 2026 12:00:00 +0000',
      'From: Jackdaw <jackdaw@alerts.example.com>',
      'MIME-Version: 1.0',
      `Message-ID: <${MAIL.messageName}@alerts.example.com>`,
      `Subject: ${MAIL.subject}`,
      'To: somebody@example.org',
    ].sort(),
  );
  t.match(mails.received[0]?.text, /\r\n\r\nFailure rate of "planner" is 52 % \(above 20 %\)\.\r\n$/);
  await send();
  t.equal(mails.received[1]?.id, mails.received[0]?.id, 'a repeat keeps its id');
});

void t.test('subjects and texts never add headers or recipients', async (t) => {
  const mails = await startMails(t);
  const { send } = startMailer(t, mails.port);
  await send();
  const namesOf = (text = '') =>
    headersOf(text)
      .map((line) => line.slice(0, line.indexOf(':')))
      .sort();
  const plain = namesOf(mails.received[0]?.text);
  const texts = ['x\r\nBcc: evil@example.com\r\n\r\nbody', 'x\nTo: evil@example.com', ...ODD_TEXTS];
  for (const [index, odd] of texts.entries()) {
    const result = await send({
      subject: odd.slice(0, 500),
      text: `${odd.slice(0, 2000)}\r\n.\r\nMAIL FROM:<x@y>`,
    });
    t.equal(result.kind, 'sent');
    const mail = mails.received.at(-1);
    t.strictSame(mail?.to, ['somebody@example.org']);
    const added = namesOf(mail?.text).filter((name) => !plain.includes(name));
    t.strictSame(added, [], `text ${index}`);
  }
  t.equal(mails.received.length, texts.length + 1);
});

void t.test('sends only to a single valid mailbox', async (t) => {
  const mails = await startMails(t);
  const { send } = startMailer(t, mails.port);
  const good = ["o'neil+alerts@sub.example.org", 'a@localhost', '{x}|y@example.org', 'a@[192.0.2.1]'];
  for (const to of good) t.equal((await send({ to })).kind, 'sent', to);
  t.strictSame(
    mails.received.map(({ to }) => to),
    good.map((to) => [to]),
  );
  const bad = [
    ...[
      'a,b@example.org',
      'a;b@example.org',
      '"a"b@example.org',
      'a>\r\nRCPT TO:<b@example.org',
      '<b@example.org>',
    ],
    ...[
      'a\nb@example.org',
      'a b@example.org',
      'a(b)@example.org',
      'a@b@example.org',
      'group:a@example.org',
      '',
      'a',
    ],
  ];
  for (const to of bad)
    t.match(
      await send({ to }),
      { kind: 'permanent', statusCode: null, error: 'The address is not valid' },
      to,
    );
  t.equal(mails.received.length, good.length);
});

void t.test('classifies the response of the server', async (t) => {
  const cases: readonly (readonly [Error, ReturnType<typeof summarize>])[] = [
    [
      answer(451, '4.7.1 Try again later'),
      { kind: 'transient', statusCode: 451, error: 'The mail server answered: 451 4.7.1 Try again later' },
    ],
    [
      answer(550, '5.1.1 No such user'),
      { kind: 'permanent', statusCode: 550, error: 'The mail server answered: 550 5.1.1 No such user' },
    ],
    [
      answer(550, 'Client [203.0.113.7] and 2001:db8::1 are listed, see 192.0.2.1.'),
      {
        kind: 'permanent',
        statusCode: 550,
        error: 'The mail server answered: 550 Client [[address]] and [address] are listed, see [address].',
      },
    ],
    [
      answer(550, `\u0007bell\u001B[31m ${'x'.repeat(500)}`),
      {
        kind: 'permanent',
        statusCode: 550,
        error: `The mail server answered: ${`550 bell [31m ${'x'.repeat(500)}`.slice(0, 200)}…`,
      },
    ],
  ];
  let next: Error | undefined;
  const mails = await startMails(t, {
    onRcptTo: (_address, _session, done) => {
      done(next);
    },
  });
  const { send } = startMailer(t, mails.port);
  for (const [problem, expected] of cases) {
    next = problem;
    t.strictSame(summarize(await send()), expected);
  }
  next = undefined;
  t.equal((await send()).kind, 'sent', 'the next one gets through');
  t.equal(mails.received.length, 1);
});

void t.test('reports a mail refused after its data', async (t) => {
  for (const [code, kind] of [
    [452, 'transient'],
    [552, 'permanent'],
  ] as const) {
    const mails = await startMails(t, {
      onData: (stream, _session, done) => {
        stream.resume();
        stream.on('end', () => {
          done(answer(code, 'no room'));
        });
      },
    });
    t.match(await startMailer(t, mails.port).send(), { kind, statusCode: code });
  }
});

void t.test('reports an unreachable server', async (t) => {
  const { send } = startMailer(t, await freePort());
  t.strictSame(summarize(await send()), {
    kind: 'transient',
    statusCode: null,
    error: 'The mail server refused the connection',
  });
});

void t.test('a missing greeting times out with the mail', async (t) => {
  const { port, connected } = await startRaw(t, () => undefined);
  const { send, clock } = startMailer(t, port);
  const sending = send();
  await connected;
  clock.advance(30_000);
  t.strictSame(summarize(await sending), {
    kind: 'transient',
    statusCode: null,
    error: 'The mail server did not finish within 30000 ms',
  });
});

void t.test('connection-level responses do not fail the mail permanently', async (t) => {
  const { port } = await startRaw(t, (socket) => socket.end('554 5.7.1 10.1.2.3 is not welcome\r\n'));
  t.strictSame(summarize(await startMailer(t, port).send()), {
    kind: 'transient',
    statusCode: 554,
    error: 'The mail server answered: 554 5.7.1 [address] is not welcome',
  });
  const web = await startRaw(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  t.match(await startMailer(t, web.port).send(), {
    kind: 'transient',
    error: 'The mail server does not speak SMTP',
  });
  const closed = await startRaw(t, (socket) => socket.end());
  t.match(await startMailer(t, closed.port).send(), {
    kind: 'transient',
    error: 'The mail server closed the connection too early',
  });
});

void t.test('uses TLS if required or sends nothing', async (t) => {
  const safe = { key: RECEIVER_KEY, cert: VALID, disabledCommands: [] };
  const plain = await startMails(t);
  const refused = {
    kind: 'transient',
    statusCode: null,
    error: 'The TLS handshake with the mail server failed',
  };
  const notOffered = await startMailer(t, plain.port, { requireTls: true }, [AUTHORITY]).send();
  t.strictSame(summarize(notOffered), { ...refused, statusCode: 500 });
  t.equal(plain.received.length, 0);

  let isSafe: boolean | undefined;
  const onMailFrom = (_address: unknown, session: { secure: boolean }, done: () => void): void => {
    isSafe = session.secure;
    done();
  };
  const starttls = await startMails(t, { ...safe, onMailFrom });
  t.strictSame(
    summarize(await startMailer(t, starttls.port, { requireTls: true }).send()),
    refused,
    'an unknown authority',
  );
  t.equal(starttls.received.length, 0);
  t.equal((await startMailer(t, starttls.port, { requireTls: true }, [AUTHORITY]).send()).kind, 'sent');
  t.equal(isSafe, true);
  isSafe = undefined;
  t.equal((await startMailer(t, starttls.port).send()).kind, 'sent', 'trust is not required');
  t.equal(isSafe, true);

  const secure = await startMails(t, { ...safe, secure: true, onMailFrom });
  t.strictSame(summarize(await startMailer(t, secure.port, { secure: true }).send()), refused);
  t.equal((await startMailer(t, secure.port, { secure: true }, [AUTHORITY]).send()).kind, 'sent');
});

/** The AUTH PLAIN response. */
function sentAs(user: string, password: string): string {
  return Buffer.from(`\0${user}\0${password}`).toString('base64');
}

void t.test('logs in and never reports the password on failure', async (t) => {
  const logins: (string | undefined)[] = [];
  const mails = await startMails(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      logins.push(username);
      if (password === PASSWORD) done(null, { user: username });
      else done(answer(535, `5.7.8 ${password ?? ''} ${sentAs('jackdaw', password ?? '')} is wrong`));
    },
  });
  const { send } = startMailer(t, mails.port, { login: { user: 'jackdaw', password: PASSWORD } });
  t.equal((await send()).kind, 'sent');
  const wrong = 'another password';
  const result = await startMailer(t, mails.port, { login: { user: 'jackdaw', password: wrong } }).send();
  t.strictSame(summarize(result), {
    kind: 'transient',
    statusCode: 535,
    error: 'The mail server rejected user and password (535)',
  });
  for (const hidden of [wrong, sentAs('jackdaw', wrong)]) t.notOk(JSON.stringify(result).includes(hidden));
  t.strictSame(logins, ['jackdaw', 'jackdaw']);
});

void t.test('a stop aborts mails in progress', async (t) => {
  const { port, connected } = await startRaw(t, () => undefined);
  const { mailer, send } = startMailer(t, port);
  const end = new AbortController();
  const sending = mailer.send(MAIL, end.signal);
  await connected;
  end.abort(new Error('it stops'));
  await t.rejects(sending, /it stops/);
  await t.rejects(mailer.send(MAIL, end.signal), /it stops/);
  const last = send();
  mailer.close();
  t.equal((await last).kind, 'transient');
  t.equal((await send()).kind, 'transient');
});
