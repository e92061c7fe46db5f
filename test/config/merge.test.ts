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

void t.test('a map over a list inserts and removes items', async (t) => {
  const listed = async (changes: string): Promise<readonly string[]> => {
    const { config } = await prepareTexts([
      `${PIPELINE}extensions: { thing: {}, thing/b: {}, thing/c: {}, thing/d: {} }\n`,
      'service: { extensions: [thing, thing/b] }\n',
      `service: { extensions: ${changes} }\n`,
    ]);
    return config.service.extensions;
  };
  const c = ', ids: thing/c }';
  t.strictSame(await listed(`{ insert: { before: thing${c} }`), ['thing/c', 'thing', 'thing/b']);
  t.strictSame(await listed(`{ insert: { after: thing${c} }`), ['thing', 'thing/c', 'thing/b']);
  t.strictSame(await listed('{ insert: { ids: [thing/c, thing/d] } }'), [
    'thing',
    'thing/b',
    'thing/c',
    'thing/d',
  ]);
  t.strictSame(await listed('{ remove: thing }'), ['thing/b']);
  t.strictSame(
    await listed('{ remove: [thing], insert: [{ before: thing/b, ids: thing/c }, { ids: thing }] }'),
    ['thing/c', 'thing/b', 'thing'],
    'removed first',
  );
});

void t.test('errors in changes of a list name the place', async (t) => {
  const problems = async (changes: string): Promise<readonly string[]> =>
    await problemsOf([`${PIPELINE}extensions: { thing: {} }\n`, `service: { extensions: ${changes} }\n`]);
  t.strictSame(await problems('{ insert: { before: thin, ids: [thing] } }'), [
    'b.yaml:1:44: error: service.extensions: "thin" is not in the list of a.yaml:5; did you mean "thing"?',
  ]);
  t.strictSame(await problems('{ remove: other }'), [
    'b.yaml:1:34: error: service.extensions: "other" is not in the list of a.yaml:5; known here: "thing"',
  ]);
  t.strictSame(await problems('{ insert: { ids: thing } }'), [
    'b.yaml:1:41: error: service.extensions[1]: "thing" is listed twice',
  ]);
  t.strictSame(await problems('{ insert: { before: thing } }'), [
    'b.yaml:1:34: error: service.extensions: needs ids: what to insert',
  ]);
  t.strictSame(await problems('{ insert: thing }'), [
    'b.yaml:1:34: error: service.extensions: must be a map with ids, and before or after an item of the list',
  ]);
  t.strictSame(await problems('{ add: thing }'), [
    'b.yaml:1:26: error: service.extensions: unknown key "add"; known here: "insert", "remove"; to replace the list, write a list',
  ]);
  t.strictSame(await problems('{ insert: { before: , ids: thing } }'), [
    'b.yaml:1:44: error: service.extensions: needs an item of the list, or leave out before to insert at the end',
  ]);
  t.strictSame(await problems('{}'), [
    'b.yaml:1:24: error: service.extensions: is a list and needs insert or remove; write [] to empty it',
  ]);
  t.match(await problems('{ insert: { before: thing, after: thing, ids: [a] } }'), [
    /has both before and after/,
  ]);
});

void t.test('a file can only extend the built-in configuration', async (t) => {
  t.strictSame(await problemsOf([`extends: ../base.yaml${PIPELINE}extensions: { thing: {} }\n`]), [
    'a.yaml:1:10: error: extends: must be default, the built-in configuration; to merge over a file, name it before this one with --config',
  ]);
});
