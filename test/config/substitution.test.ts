import t from 'tap';
import { PIPELINE, prepareTexts, problemsOf, type TestEnvironment } from '../support/config-problems.js';

async function configOf(thing: string, environment: TestEnvironment): Promise<Record<string, unknown>> {
  const { config } = await prepareTexts([`${PIPELINE}extensions:\n  thing: { ${thing} }\n`], environment);
  return config.components.extension.get('thing')?.config ?? {};
}

void t.test('text stays text and numbers become numbers, as the schema requires', async (t) => {
  const variables = { DIGITS: '0123', NUMBER: '7', YES: 'true', EMPTY: '' };
  t.match(await configOf('text: "${env:DIGITS}", count: "${env:NUMBER}"', { variables }), {
    text: '0123',
    count: 7,
  });
  t.match(await configOf('password: "${env:DIGITS}"', { variables }), { password: '0123' });
  t.match(await configOf('nested: { flag: "${env:YES}" }', { variables }), { nested: { flag: true } });
  t.match(await configOf('text: "${env:YES}"', { variables }), { text: 'true' });
  t.match(await configOf('text: "${env:EMPTY}"', { variables }), { text: '' });
});

void t.test('a value is always read as a scalar', async (t) => {
  for (const evil of [
    '{a: 1}',
    '[1, 2]',
    'x # y',
    'a: b',
    '*alias',
    '!!js/function x',
    '"quoted"',
    'a\nb: c',
  ])
    t.match(await configOf('text: "${env:EVIL}"', { variables: { EVIL: evil } }), { text: evil }, evil);
  t.match(
    await problemsOf([`${PIPELINE}extensions: { thing: { nested: "\${env:E}" } }\n`], {
      variables: { E: '{flag: true}' },
    }),
    [/extensions\.thing\.nested: must be a map/],
  );
});

void t.test('substitutes parts, defaults, escapes and files', async (t) => {
  const environment = {
    variables: { HOST: 'db', EMPTY: '', TRICKY: '$$ ${env:HOST}' },
    files: { '/run/secrets/p': 'from-a-file\n' },
  };
  const text = async (value: string) => (await configOf(`text: "${value}"`, environment))['text'];
  t.equal(await text('${env:HOST}:${env:PORT:-5432}'), 'db:5432');
  t.equal(await text('${env:EMPTY:-default}'), 'default', 'as in a shell');
  t.equal(await text('${env:NONE:-}'), '');
  t.equal(await text('$${env:HOST} costs $5 $$'), '${env:HOST} costs $5 $');
  t.equal(await text('${env:TRICKY}'), '$$ ${env:HOST}', 'substituted text is not expanded again');
  t.equal(await text('${file:/run/secrets/p}'), 'from-a-file');
  t.equal(await text('${env:D:-a:-b}'), 'a:-b');
});

void t.test('a failed substitution is an error with position and remedy', async (t) => {
  const problems = await problemsOf(
    [
      `${PIPELINE}extensions:
  thing:
    text: \${env:MISSING}
    password: \${file:/nowhere}
    word: \${HOME}
    helper: \${env:BAD NAME}
    file: "\${env:OPEN"
`,
    ],
    {},
  );
  t.match(problems, [
    'a.yaml:10:11: error: extensions.thing.text: the environment variable MISSING is not set; set it, or write ${env:MISSING:-default}',
    'a.yaml:11:15: error: extensions.thing.password: ${file:/nowhere} cannot be read: no such file',
    'a.yaml:12:11: error: extensions.thing.word: "${HOME}" is not a substitution (${env:NAME}, ${env:NAME:-default}, ${file:path}); did you mean "${env:HOME}"?',
    /a\.yaml:13:13: .*"BAD NAME" cannot be the name of an environment variable/,
    /a\.yaml:14:11: .*without a closing "}"/,
  ]);
});

void t.test('errors show the placeholder instead of its value', async (t) => {
  const [problem = ''] = await problemsOf(
    [`${PIPELINE}extensions: { thing: { count: "\${env:TOKEN}" } }\n`],
    { variables: { TOKEN: 'very-private' } },
  );
  t.match(problem, /but is "\$\{env:TOKEN\}"/);
  t.notMatch(problem, /very-private/);
});
