import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { builtinFactories } from '../../src/builtin.js';
import type { Component } from '../../src/component/component.js';
import { signalsOf, type Factory } from '../../src/component/factory.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { ConfigError } from '../../src/config/config-error.js';
import { editorSchema } from '../../src/config/editor-schema.js';
import { checkSchema } from '../../src/config/schema-check.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { parsePriceTable } from '../../src/processors/cost/price-table.js';
import { SIGNALS } from '../../src/signal/batch.js';
import { runInProcess } from '../support/cli.js';
import { componentSettings } from '../support/component-settings.js';
import { environmentOf } from '../support/config-problems.js';
import { projectFolder, readProjectFile } from '../support/project-file.js';
import { yamlExamples } from '../support/yaml-examples.js';

const root = projectFolder();
// Code is loaded from the build of these tests, templates from their source.
const BUILT = fileURLToPath(new URL('../../', import.meta.url));
const COMPONENTS = ['receivers', 'processors', 'exporters', 'extensions'];
const OWN = ['extends', 'plugins', 'auth', 'secrets', 'smtp', 'service'];

type Section = Readonly<Record<string, Readonly<Record<string, unknown>> | null>>;
type Sections = Readonly<Record<string, Section>>;

const examples = yamlExamples.map(({ name, text }) => ({
  name,
  text: text
    .replaceAll('- ./plugins/', `- ${root}/plugins/`)
    .replaceAll('- ./dist/', `- ${BUILT}`)
    .replaceAll('/etc/jackdaw/prices.yaml', `${root}/plugins/prices/prices.yaml`),
}));

function prepareText(text: string) {
  const isWhole = /^service:\n {2}extensions:.*\n {2}pipelines:/m.test(text);
  const source = { file: 'example.yaml', text };
  return prepare(isWhole ? [source] : [DEFAULT_CONFIG, source], environmentOf({}), builtinFactories);
}

/** The lines with unknown keys. */
async function unknownKeys(text: string): Promise<readonly string[]> {
  try {
    await prepareText(text);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.flatMap(({ position, path, message }) =>
      position?.file === 'example.yaml' && message.startsWith('unknown key "misspelt"') ? path.join('.') : [],
    );
  }
}

/** The configuration with an unknown key in one component. */
function misspelt(sections: Sections, section: string, id: string): Sections {
  return {
    ...sections,
    [section]: { ...sections[section], [id]: { ...sections[section]?.[id], misspelt: 1 } },
  };
}

/** Editor schemas with plugins, cached by their configuration because they are slow to build. */
const withPlugins = new Map<string, ReturnType<typeof schemaOf>>();

function schemaOf(factories: readonly Factory[]) {
  return new Ajv({ strict: false }).compile(editorSchema(factories));
}

async function checkConfiguration(t: Test, text: string): Promise<void> {
  const sections = parse(text) as Sections;
  const { registry, plan } = await prepareText(text);
  t.ok(plan.pipelines.length > 0, 'the daemon accepts it');
  const plugins = JSON.stringify(sections['plugins'] ?? []);
  const takes = withPlugins.get(plugins) ?? schemaOf(registry.all());
  withPlugins.set(plugins, takes);
  // An overlay may omit keys that the schema requires in a complete file.
  const forEditors = (all: Sections) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => name !== 'service'));
  t.ok(takes(forEditors(sections)), 'the schema accepts it');
  t.notOk(takes({ ...forEditors(sections), misspelt: {} }), 'no unknown section');
  const ids = COMPONENTS.flatMap((section) =>
    Object.keys(sections[section] ?? {}).map((id) => [section, id] as const),
  );
  for (const [section, id] of ids)
    t.notOk(
      takes(forEditors(misspelt(sections, section, id))),
      `${section}.${id}: the schema rejects a misspelt key`,
    );
  if (ids.length === 0) return;
  const wrong = ids.reduce((all, [section, id]) => misspelt(all, section, id), sections);
  const found = await unknownKeys(stringify(wrong));
  t.strictSame(
    found.toSorted(),
    ids.map(([section, id]) => `${section}.${id}.misspelt`).toSorted(),
    'the daemon reports each position, too',
  );
}

/** An example of tests runs next to an empty configuration. */
async function checkTests(t: Test, text: string): Promise<void> {
  const folder = t.testdir({ 'jackdaw.yaml': '', tests: {} });
  const file = join(folder, 'tests', 'a.test.yaml');
  writeFileSync(file, text);
  const { code, stdout, stderr } = await runInProcess(['test', file]);
  t.equal(code, 0, stdout + stderr);
}

for (const { name, text } of examples)
  void t.test(name, async (t) => {
    const keys = Object.keys(parse(text) as object);
    if (keys.includes('tests')) await checkTests(t, text);
    else if (keys.includes('models')) t.ok(parsePriceTable(text, name));
    else {
      t.strictSame(
        keys.filter((key) => !COMPONENTS.includes(key) && !OWN.includes(key)),
        [],
        'is a configuration',
      );
      await checkConfiguration(t, text);
    }
  });

const EMPTY = {
  kind: 'map',
  position: { file: 'empty', line: 1, column: 1 },
  entries: new Map<string, never>(),
} as const;

const taking = { consume: async () => Promise.resolve({ accepted: 0, refused: [] }) };

function create(factory: Factory): readonly Component[] {
  const { value } = checkSchema(factory.configSchema, EMPTY, []);
  const settings = { ...componentSettings(factory.type), config: value as Record<string, unknown> };
  switch (factory.kind) {
    case 'receiver':
      return [
        factory.create({
          ...settings,
          outputs: { traces: taking, metrics: taking, logs: taking, events: taking },
        }),
      ];
    case 'processor':
      return SIGNALS.flatMap((signal) => factory.create[signal]?.({ ...settings, next: taking }) ?? []);
    case 'exporter':
      return [factory.create(settings)];
    case 'extension':
      return [factory.create(settings)];
  }
}

for (const factory of builtinFactories) {
  const { kind, type, configSchema } = factory;
  void t.test(
    `${kind} ${type}: works without configuration and can be stopped unstarted and twice`,
    async (t) => {
      t.match(type, /^[a-z][a-z0-9_]*$/, 'lower_snake_case');
      t.match(factory.description, /^[A-Z].*\.$/, 'one sentence');
      t.ok(signalsOf(factory).every((signal) => SIGNALS.includes(signal)));
      t.strictSame(checkSchema(factory.configSchema, EMPTY, []).problems, []);
      const components = create(factory);
      t.equal(components.length, kind === 'processor' ? signalsOf(factory).length : 1);
      const abort = new AbortController().signal;
      for (const component of components) {
        await component.shutdown?.(abort);
        await component.shutdown?.(abort);
      }
    },
  );

  const page = join('src', `${kind}s`, type.replaceAll('_', '-'), 'README.md');
  void t.test(`${page} starts with an example without warnings and explains every key`, async (t) => {
    const first = examples.find(({ name }) => name === `${page}#1`)?.text ?? '';
    t.match(first, new RegExp(`^  ${type}(/.+)?:`, 'm'));
    t.strictSame((await prepareText(first)).warnings, []);
    const text = readProjectFile(page);
    for (const key of Object.keys(configSchema.properties)) t.match(text, key, `${key} is explained`);
  });
}

void t.test('each plugin page has an example', (t) => {
  const folders = readdirSync(join(root, 'plugins'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  // Their configurations are separate files.
  for (const { name } of folders.filter((folder) => !['sidecar', 'deploy'].includes(folder.name)))
    t.ok(
      examples.some((example) => example.name.startsWith(`plugins/${name}/README.md#`)),
      name,
    );
  t.end();
});

void t.test('an invalid expression or template reports file, line, column and remedy', async (t) => {
  const file = (text: string) =>
    prepare([DEFAULT_CONFIG, { file: 'my.yaml', text }], environmentOf({}), builtinFactories);
  const broken = [
    [
      'processors:\n  filter: { logs: [\'log.severty == "info"\'] }',
      /my\.yaml:2:20: error: processors\.filter\.logs\[0\]: log has no field "severty"; did you mean "severity"\?/,
    ],
    [
      "processors:\n  transform:\n    spans: [{ set: { name: '1 +' } }]",
      /my\.yaml:3:22: error: processors\.transform\.spans\[0\]\.set\.name: /,
    ],
    [
      "processors:\n  sample: { keep: ['trace.agent'] }",
      /my\.yaml:2:20: error: processors\.sample\.keep\[0\]: a condition must be true or false/,
    ],
    [
      "exporters:\n  http:\n    url: https://a.example/\n    body: { text: ['x ${{ event.kind }}'] }",
      /my\.yaml:4:20: error: exporters\.http\.body\.text\[0\]: event has no field "kind"/,
    ],
    [
      'plugins: [jackdaw/plugins/slack-events]\nexporters:\n  slack_events: { url: https://a.example/, types: [trace.failled] }',
      /my\.yaml:3:3: error: exporters\.slack_events: in its filter "?|never "trace\.failled"; did you mean "trace\.failed"/,
    ],
    [
      'plugins: [jackdaw/plugins/slack-events]\nexporters:\n  slack_events: { ulr: x }',
      /my\.yaml:3:19: error: exporters\.slack_events\.ulr: unknown key "ulr"; did you mean "url"/,
    ],
    [
      'plugins: [jackdaw/plugins/slack-events]\nexporters:\n  slack_events: { footer: x }',
      /my\.yaml:3:3: error: exporters\.slack_events\.url: is missing/,
    ],
    [
      'plugins: [jackdaw/plugins/production-sampling]\nprocessors:\n  production_sampling: { percentage: all }',
      /my\.yaml:3:26: error: processors\.production_sampling\.percentage: must be a number, but is "all"/,
    ],
  ] as const;
  for (const [text, expected] of broken) await t.rejects(file(text), { message: expected }, text);
});
