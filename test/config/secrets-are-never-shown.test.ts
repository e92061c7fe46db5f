import { randomBytes } from 'node:crypto';
import t from 'tap';
import { redactor } from '../../src/telemetry/redact.js';
import { PIPELINE, prepareTexts, problemsOf } from '../support/config-problems.js';

const thing = (section: string) => [`${PIPELINE}extensions: { thing: ${section} }\n`];

void t.test('errors do not repeat secrets', async (t) => {
  const cases = [
    [thing('{ password: 777 }'), '777', /password: must be text; put it in quotes/],
    [thing('{ password: abc }'), 'abc', /password: must be at least 4 characters long/],
    [thing('{ pasword: hunter22 }'), 'hunter22', /unknown key "pasword"; did you mean "password"/],
    [
      [`${PIPELINE}extensions: { thing: }\nauth: { bootstrap_key: jd_tooshort }\n`],
      'jd_tooshort',
      /auth\.bootstrap_key: must be/,
    ],
    [[`${PIPELINE}extensions: { thing: }\nauth: my-secret-key\n`], 'my-secret-key', /auth: must be a map/],
  ] as const;
  for (const [texts, secret, expected] of cases) {
    const problems = await problemsOf(texts);
    t.match(problems, [expected]);
    t.notMatch(problems.join('\n'), new RegExp(secret));
  }
});

void t.test('collects secrets so that the log can hide them', async (t) => {
  const key = `jd_${'a'.repeat(43)}`;
  const { config } = await prepareTexts(
    [
      `${PIPELINE}extensions: { thing: { password: "\${env:P}", text: open } }\nauth: { bootstrap_key: ${key} }\n`,
    ],
    { variables: { P: 'hunter22' } },
  );
  t.strictSame([...config.secrets].sort(), ['hunter22', key].sort());
});

void t.test('hides passwords and keys in URLs', async (t) => {
  const urls = [
    'https://gw.example/v1/traces?key=S3CRET-key&other=x',
    'https://gw.example/?S3CRET-key',
    'http://jane:S3CRET-key@gw.example:4318/v1',
    'http://S3CRET-key@gw.example',
  ];
  const { config } = await prepareTexts(thing(`{ text: "${urls[0] ?? ''}" }`), {});
  t.match(config.print(), 'https://gw.example/v1/traces?key=[secret]&other=[secret]');
  t.notMatch(config.print(), 'S3CRET');
  t.match(config.secrets, ['S3CRET-key']);
  for (const url of urls) {
    const line = redactor([])(JSON.stringify({ msg: `cannot reach ${url}`, other: 1 }));
    t.notMatch(line, 'S3CRET');
    t.match(JSON.parse(line), { msg: /^cannot reach https?:\/\/\S*gw\.example/, other: 1 });
  }
  for (const url of [...urls, 'jane:S3CRET-key@gw.example:4318']) {
    const problems = await problemsOf(thing(`{ wait: "${url}" }`));
    t.match(problems, [/but is .*gw\.example/]);
    t.notMatch(problems.join('\n'), 'S3CRET');
  }
});

void t.test('secrets.key is 32 bytes in base64', async (t) => {
  const rule =
    /^a\.yaml:9:\d+: error: secrets\.key: must be 32 bytes in base64, as "openssl rand -base64 32" prints them$/;
  const withKey = (value: string) => [`${PIPELINE}extensions: { thing: }\nsecrets: { key: ${value} }\n`];
  const wrong = [
    randomBytes(16).toString('base64'),
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    randomBytes(64).toString('base64'),
    randomBytes(32).toString('hex'),
    Buffer.alloc(32, 255).toString('base64url'),
    randomBytes(32).toString('base64').slice(0, -1),
    `${'A'.repeat(42)}B=`,
    `${'A'.repeat(43)}=\\n`,
    '',
    'a passphrase',
  ];
  for (const key of wrong) {
    const problems = await problemsOf(withKey(`"${key}"`));
    t.match(problems, [rule], key);
    t.equal(problems.length, 1);
    if (key !== '') t.notOk(problems.join('\n').includes(key), 'not shown');
    t.match(
      await problemsOf(withKey('"${env:KEY}"'), { variables: { KEY: key } }),
      [rule],
      'nor from outside',
    );
  }
  t.match(await problemsOf(withKey('12345678')), [/secrets\.key: must be text; put it in quotes$/]);
  t.match(await problemsOf([`${PIPELINE}extensions: { thing: }\nsecrets: { kee: x }\n`]), [
    /secrets\.kee: unknown key "kee"; did you mean "key"/,
  ]);

  for (let i = 0; i < 50; i++) {
    const key = randomBytes(32).toString('base64');
    const { config } = await prepareTexts(withKey('"${file:/run/secrets/key}"'), {
      files: { '/run/secrets/key': `${key}\n` },
    });
    t.strictSame(config.secrets, [key], 'never shown');
    t.equal(config.secretKeeping.key, key);
  }
  t.strictSame(await problemsOf([`${PIPELINE}extensions: { thing: }\nsecrets:\n`]), []);
});
