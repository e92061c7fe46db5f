import t from 'tap';
import type { SmtpSettings } from '../../src/component/smtp.js';
import { PIPELINE, prepareTexts, problemsOf } from '../support/config-problems.js';

const withSmtp = (smtp: string) => [`${PIPELINE}extensions: { thing: }\nsmtp: ${smtp}\n`];

async function settingsOf(smtp: string): Promise<SmtpSettings | null> {
  const { config } = await prepareTexts(withSmtp(smtp));
  return config.smtp;
}

void t.test('no host means no mail server', async (t) => {
  for (const smtp of ['', '{}', '{ host: "" }', '{ port: 25, user: me, password: secret }'])
    t.equal(await settingsOf(smtp), null, `smtp: ${smtp}`);
  const { config } = await prepareTexts([`${PIPELINE}extensions: { thing: }\n`]);
  t.equal(config.smtp, null);
});

void t.test('defaults to STARTTLS on 587 or TLS on 465, required except on localhost', async (t) => {
  t.strictSame(await settingsOf('{ host: smtp.example.com, from: a@b.c }'), {
    host: 'smtp.example.com',
    port: 587,
    secure: false,
    requireTls: true,
    login: null,
    from: 'a@b.c',
  });
  const secure = '{ host: mx, secure: true, user: me, password: hunter22, from: "Jackdaw <a@b.c>" }';
  t.match(await settingsOf(secure), {
    port: 465,
    login: { user: 'me', password: 'hunter22' },
    from: 'Jackdaw <a@b.c>',
  });
  for (const host of ['localhost', '127.0.0.1', '"::1"'])
    t.match(await settingsOf(`{ host: ${host}, from: a@b.c }`), { requireTls: false }, host);
  t.match(await settingsOf('{ host: localhost, port: 25, from: a@b.c, require_tls: true }'), {
    port: 25,
    requireTls: true,
  });
  t.match(await settingsOf('{ host: mx, from: a@b.c, require_tls: false }'), { requireTls: false });
});

void t.test('errors name their position', async (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{ host: mx }', /smtp\.from: is required when host is set/],
    ['{ host: mx, from: a@b.c, user: me }', /smtp\.password: is required/],
    ['{ host: mx, from: a@b.c, password: hunter22 }', /smtp\.user: is required/],
    ['{ host: mx, from: nobody }', /smtp\.from: must be an e-mail address: alerts@example\.com/],
    ['{ host: mx, from: "a@b.c, d@e.f" }', /smtp\.from: must be an e-mail address/],
    ['{ host: mx, from: "A <a@b.c> <d@e.f>" }', /smtp\.from: must be/],
    ['{ host: mx, from: "A\\r\\nBcc: x <a@b.c>" }', /smtp\.from: must be/],
    ['{ host: "mx:25", from: a@b.c }', /smtp\.host: must be a host name or an address without a port/],
    ['{ host: smtp://mx, from: a@b.c }', /smtp\.host: must be a host name/],
    ['{ host: mx, port: 0, from: a@b.c }', /smtp\.port: must be/],
    ['{ host: mx, from: a@b.c, secure: 1 }', /smtp\.secure: must be true or false/],
    [
      '{ host: mx, from: a@b.c, pasword: x }',
      /smtp\.pasword: unknown key "pasword"; did you mean "password"/,
    ],
  ];
  for (const [smtp, expected] of cases) {
    const problems = await problemsOf(withSmtp(smtp));
    t.equal(problems.length, 1, smtp);
    t.match(problems, [expected], smtp);
  }
});

void t.test('the password is never shown', async (t) => {
  const text = withSmtp('{ host: mx, from: a@b.c, user: me, password: "${env:P}" }');
  const { config } = await prepareTexts(text, { variables: { P: 'hunter22' } });
  t.strictSame(config.secrets, ['hunter22']);
  for (const smtp of ['{ password: 12345678 }', '{ host: mx, from: 1, user: me, password: hunter22 }'])
    t.notMatch((await problemsOf(withSmtp(smtp))).join('\n'), /hunter22|12345678/);
});
