import t from 'tap';
import { PIPELINE, prepareTexts, problemsOf } from '../support/config-problems.js';

void t.test('later files win: maps merge, lists and scalars are replaced', async (t) => {
  const { config, plan } = await prepareTexts([
    `${PIPELINE}extensions: { thing: { count: 2, text: first } }\n`,
    'extensions: { thing: { count: 5 }, thing/b: {} }\nservice: { extensions: [thing/b, thing] }\n',
    'service: { telemetry: { metrics: { endpoint: null } } }\n',
  ]);
  t.match(config.components.extension.get('thing')?.config, { count: 5, text: 'first' });
  t.strictSame(config.service.extensions, ['thing/b', 'thing']);
  t.equal(config.service.telemetry.metrics.endpoint, null, 'a scalar can be cleared');
  t.equal(plan.pipelines.length, 1, 'unnamed parts are kept');
});

void t.test('a later section without a value is an error and deletes nothing', async (t) => {
  t.strictSame(
    await problemsOf([
      `${PIPELINE}extensions:\n  thing: { count: 2 }\n`,
      'receivers:\nextensions:\n  thing:\n',
    ]),
    [
      'b.yaml:1:1: error: receivers: has no value here, but a.yaml:2 gives it one; remove this line to keep that value, or write a new one',
      'b.yaml:3:3: error: extensions.thing: has no value here, but a.yaml:9 gives it one; remove this line to keep that value, or write a new one',
    ],
  );
});

void t.test('a new section without a value is empty', async (t) => {
  t.strictSame(await problemsOf([`${PIPELINE}extensions: { thing: {} }\n`, 'extensions:\n  thing:\n']), []);
  t.strictSame(await problemsOf([`${PIPELINE}extensions:\n  thing:\nprocessors:\n`]), []);
});

void t.test('errors name the file of the invalid value', async (t) => {
  t.strictSame(
    await problemsOf([
      `${PIPELINE}extensions: { thing: { count: 2 } }\n`,
      '\nextensions: { thing: { count: no } }\n',
    ]),
    ['b.yaml:2:24: error: extensions.thing.count: must be a whole number, but is "no"'],
  );
});
