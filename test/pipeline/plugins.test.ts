import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { ConsumeError } from '../../src/component/consume-error.js';
import { ConfigError } from '../../src/config/config-error.js';
import { pluginFile } from '../../src/pipeline/plugin-file.js';
import { loadPlugin } from '../../src/pipeline/plugin-loader.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf } from '../support/config-problems.js';
import { batchOf, metricValues, startEngine } from '../support/engine.js';
import { aSpanRecord } from '../support/run-records.js';
import { EngineComponents } from '../support/engine-components.js';

const EXAMPLE = fileURLToPath(new URL('../../plugins/drop-payloads/plugin.js', import.meta.url));

const FACTORY = `{ kind: 'extension', type: 'other', description: 'x', stability: 'alpha',
  configSchema: { type: 'object', properties: {}, additionalProperties: false }, create: () => ({}) }`;
const plugin = (factory: string, apiVersion = 1) =>
  `export default { name: 'p', apiVersion: ${apiVersion}, factories: [${factory}] };\n`;

void t.test('the example plugin loads from outside and works', async (t) => {
  const components = new EngineComponents();
  const { meter } = await startEngine(t, {
    factories: components.factories,
    config: `plugins: [${JSON.stringify(EXAMPLE)}]
receivers: { source: {} }
processors: { drop_payloads: { span_types: [llm], keep_failed: true } }
exporters: { sink: {}, sink/b: {} }
service:
  pipelines:
    traces: { receivers: [source], processors: [drop_payloads], exporters: [sink] }
    traces/whole: { receivers: [source], exporters: [sink/b] }
`,
  });
  const batch = batchOf('a');
  const span = aSpanRecord('a', {
    input_tokens: 5,
    input_data: { prompt: 'private' },
    output_data: { text: 'private' },
    metadata: { kept: true },
  });
  batch.items[0]?.spans.push(span, { ...span, type: 'tool' }, { ...span, status: 'failed' });
  await components.send('source', batch);
  const [stripped, tool, failed] = components.batches.get('sink')?.[0]?.items[0]?.spans ?? [];
  t.match(stripped, { input_data: null, output_data: null, metadata: { kept: true }, input_tokens: 5 });
  t.match(tool, { input_data: { prompt: 'private' } });
  t.match(failed, { input_data: { prompt: 'private' } });
  const whole = components.batches.get('sink/b')?.[0]?.items[0]?.spans[0];
  t.match(whole, { input_data: { prompt: 'private' } }, 'the other pipeline has a separate copy');
  t.strictSame(await metricValues(meter, 'jackdaw_drop_payloads_fields_total'), {
    'jackdaw_drop_payloads_fields_total{processor="drop_payloads"}': 2,
  });
});

void t.test('finds plugins by path or package name', async (t) => {
  const folder = t.testdir({
    'plain.mjs': plugin(FACTORY),
    node_modules: {
      'jackdaw-plugin-x': {
        'package.json': JSON.stringify({
          name: 'jackdaw-plugin-x',
          type: 'module',
          exports: { '.': { import: './lib.js' } },
        }),
        'lib.js': plugin(FACTORY.replace('other', 'packaged')),
      },
    },
  });
  const file = join(folder, 'jackdaw.yaml');
  t.match(await loadPlugin('./plain.mjs', file), { name: 'p', factories: [{ type: 'other' }] });
  t.match(await loadPlugin('jackdaw-plugin-x', file), { factories: [{ type: 'packaged' }] });
});

void t.test('a folder means the template or module in it', async (t) => {
  const folder = t.testdir({
    template: { 'template.yaml': 'x' },
    module: { 'plugin.js': plugin(FACTORY) },
    neither: { 'README.md': 'x' },
    packaged: {},
  });
  const file = join(folder, 'jackdaw.yaml');
  t.equal(pluginFile('./template', file), join(folder, 'template', 'template.yaml'));
  t.equal(pluginFile(join(folder, 'module'), file), join(folder, 'module', 'plugin.js'));
  t.match(await loadPlugin(pluginFile('./module/', file), file), { factories: [{ type: 'other' }] });
  t.throws(
    () => pluginFile('./neither', file),
    /"\.\/neither" is a directory with neither template\.yaml nor plugin\.js: set the path/,
  );
  t.equal(pluginFile('packaged', file), 'packaged', 'a name is a package');
  t.equal(pluginFile('./nowhere.js', file), './nowhere.js');
});

void t.test('a plugin outside the project can import jackdaw', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-plugin-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(
    join(folder, 'outside.mjs'),
    `import { ConsumeError, Type } from 'jackdaw';
import { helper } from './helper.mjs';
export default { name: 'outside', apiVersion: 1, factories: [{ kind: 'extension', type: 'outside', description: 'x',
  stability: 'alpha', configSchema: Type.Object({}), create: () => { throw helper(ConsumeError); } }] };
`,
  );
  writeFileSync(
    join(folder, 'helper.mjs'),
    `import * as jackdaw from 'jackdaw';
export const helper = (Same) => new (jackdaw.ConsumeError === Same ? Same : Error)('x', { code: 'overloaded', retryable: true });
`,
  );
  writeFileSync(join(folder, 'other.mjs'), "import 'jackdaw-of-somebody-else';\n");
  const file = join(folder, 'jackdaw.yaml');
  const { factories } = await loadPlugin('./outside.mjs', file);
  const [factory] = factories as unknown as readonly [{ create(): unknown }];
  t.throws(() => factory.create(), ConsumeError, 'the same class as in the program');
  await t.rejects(loadPlugin('./other.mjs', file), /cannot be loaded: Cannot find package/, 'nothing else');
});

void t.test('an unusable plugin is reported with its reason', async (t) => {
  const folder = t.testdir({
    'syntax.mjs': 'export default {',
    'throws.mjs': 'throw new Error("no database driver")',
    'empty.mjs': 'export const plugin = 1;',
    'newer.mjs': plugin(FACTORY, 2),
    'kind.mjs': plugin(FACTORY.replace('extension', 'extnsion')),
    'type.mjs': plugin(FACTORY.replace("'other'", "'not a type'")),
    'create.mjs': plugin(FACTORY.replace('create: () => ({})', '')),
    'schema.mjs': plugin(FACTORY.replace("type: 'object',", '')),
    'signals.mjs': plugin(FACTORY.replace('extension', 'receiver')),
    'processor.mjs': plugin(FACTORY.replace('extension', 'processor')),
    'events.mjs': plugin(FACTORY.replace('extension', 'processor').replace('() => ({})', '{ evnts() {} }')),
    'queued.mjs': plugin(
      FACTORY.replace("'extension'", "'exporter', signals: ['traces'], delivery: 'queued'"),
    ),
    'none.mjs': plugin(''),
    'unversioned.mjs': `export default { name: 'p', factories: [${FACTORY}] };`,
    'older.mjs': plugin(FACTORY, 0),
    'limits.mjs': plugin(FACTORY.replace('properties: {}', 'properties: { plugin_limits: {} }')),
    'no-schema.mjs': plugin(FACTORY.replace('properties: {}', "properties: { a: { type: 'strong' } }")),
    'no-signal.mjs': plugin(FACTORY.replace("'extension'", "'receiver', signals: ['spans']")),
    'mutates.mjs': plugin(FACTORY.replace('extension', 'processor').replace('() => ({})', '{ traces() {} }')),
    'undescribed.mjs': plugin(FACTORY.replace("description: 'x',", '')),
  });
  const file = join(folder, 'jackdaw.yaml');
  for (const [name, expected] of [
    ['./nowhere.mjs', /plugin "\.\/nowhere\.mjs" cannot be loaded: Cannot find module/],
    ['no-such-package', /plugin "no-such-package" was not found: install the package/],
    ['./syntax.mjs', /cannot be loaded: Unexpected end of input/],
    ['./throws.mjs', /cannot be loaded: no database driver/],
    ['./empty.mjs', /has no default export/],
    ['./newer.mjs', /is for version 2 of the plugin API, this version supports 1/],
    ['./kind.mjs', /its kind is "extnsion"/],
    ['./type.mjs', /"not a type" is not a type/],
    ['./create.mjs', /extension "other" has no create function/],
    ['./schema.mjs', /extension "other" has no configSchema/],
    ['./signals.mjs', /receiver "other" has no signals/],
    ['./processor.mjs', /processor "other" has no create functions by signal/],
    ['./events.mjs', /processor "other" creates components for "evnts", which is not a signal/],
    ['./queued.mjs', /exporter "other" is queued: its configSchema must include deliveryKeys\(\)/],
    ['./none.mjs', /has no list of factories/],
    ['./unversioned.mjs', /has no apiVersion.* this version supports 1/],
    ['./older.mjs', /is for version 0 of the plugin API.* install a newer version of the plugin/],
    ['./limits.mjs', /has a key plugin_limits, which is reserved/],
    ['./no-schema.mjs', /the configSchema of extension "other" is not a JSON Schema/],
    ['./no-signal.mjs', /receiver "other" is for "spans", which is not a signal/],
    ['./mutates.mjs', /processor "other" must declare mutatesBatch/],
    ['./undescribed.mjs', /extension "other" has no description/],
  ] as const)
    await t.rejects(loadPlugin(name, file), expected, name);
});

void t.test('gives up on a plugin module that never finishes loading', async (t) => {
  const folder = t.testdir({ 'waits.mjs': 'await new Promise(() => undefined); export default {};' });
  await t.rejects(
    loadPlugin('./waits.mjs', join(folder, 'jackdaw.yaml'), { timeoutMs: 1 }),
    /plugin "\.\/waits\.mjs" cannot be loaded: its module has a top-level await/,
  );
});

void t.test('failing plugins are configuration errors with a position, reported together', async (t) => {
  const folder = t.testdir({ 'same.mjs': plugin(FACTORY.replace('other', 'thing')) });
  const text = `plugins:
  - ./nowhere.mjs
  - ./same.mjs
receivers: { source: {} }
exporters: { sink: {} }
service: { pipelines: { traces: { receivers: [source], exporters: [sinc] } } }
`;
  const source = { file: join(folder, 'jackdaw.yaml'), text };
  const failed = prepare([source], environmentOf({}), new EngineComponents().factories);
  const error: unknown = await failed.catch((reason: unknown) => reason);
  t.ok(error instanceof ConfigError);
  t.match(
    error instanceof ConfigError && error.problems.map(({ position, message }) => [position?.line, message]),
    [
      [2, /nowhere/],
      [3, /There are two extensions of type "thing"/],
      [6, /no exporter "sinc"/],
    ],
  );
});
