import t from 'tap';
import { PIPELINE, prepareTexts, problemsOf } from '../support/config-problems.js';

const thing = (section: string) => [`${PIPELINE}extensions: { thing: ${section} }\n`];

void t.test('errors about a secret do not repeat it', async (t) => {
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

void t.test('the secrets of a configuration are collected, so that the log can leave them out', async (t) => {
  const key = `jd_${'a'.repeat(43)}`;
  const { config } = await prepareTexts(
    [
      `${PIPELINE}extensions: { thing: { password: "\${env:P}", text: open } }\nauth: { bootstrap_key: ${key} }\n`,
    ],
    { variables: { P: 'hunter22' } },
  );
  t.strictSame([...config.secrets].sort(), ['hunter22', key].sort());
});
