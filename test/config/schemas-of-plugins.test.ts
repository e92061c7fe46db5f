import { Type } from 'typebox';
import t from 'tap';
import type { ExtensionFactory } from '../../src/component/factory.js';
import { ConfigError } from '../../src/config/config-error.js';
import { section } from '../../src/config/schema.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf, PIPELINE } from '../support/config-problems.js';
import { EngineComponents } from '../support/engine-components.js';

async function check(properties: Parameters<typeof section>[0], written: string) {
  const factory: ExtensionFactory = {
    kind: 'extension',
    type: 'foreign',
    description: 'Foreign.',
    stability: 'alpha',
    configSchema: section(properties),
    create: () => ({}),
  };
  const text = `${PIPELINE.replace('[thing]', '[foreign]')}extensions: { foreign: { ${written} } }\n`;
  try {
    const source = { file: 'a.yaml', text };
    const prepared = await prepare([source], environmentOf({}), [
      ...new EngineComponents().factories,
      factory,
    ]);
    return prepared.config.components.extension.get('foreign')?.config;
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ message }) => message);
    throw error;
  }
}

void t.test('unknown keywords keep the message of the validator', async (t) => {
  const list = Type.Array(Type.Integer(), { uniqueItems: true });
  t.strictSame(await check({ list }, 'list: [1, 1]'), [
    'must NOT have duplicate items (items ## 1 and 0 are identical), but is a list',
  ]);
  const url = Type.String({ format: 'uri' });
  t.strictSame(await check({ url }, 'url: anything'), { url: 'anything' }, 'unknown formats are not checked');
});

void t.test('alternatives report a single error', async (t) => {
  const either = Type.Union([Type.Integer(), Type.Object({ a: Type.Integer() })]);
  t.strictSame(await check({ either }, 'either: x'), ['has none of the allowed forms, but is "x"']);
  const words = Type.Union([Type.Literal('on'), Type.Literal('off')]);
  t.strictSame(await check({ words }, 'words: onn'), [
    'must be one of "on", "off", but is "onn"; did you mean "on"?',
  ]);
});

void t.test('an invalid schema is an error of its component', async (t) => {
  const broken = Type.Unsafe({ type: 'strin' });
  t.match(await check({ broken }, 'broken: x'), [
    /extension "foreign" has a configSchema that is not a JSON Schema/,
  ]);
});
