import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import type { Component } from '../../src/component/component.js';
import { signalsOf, type Factory } from '../../src/component/factory.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { checkSchema } from '../../src/config/schema-check.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { SIGNALS } from '../../src/signal/batch.js';
import { componentSettings } from '../support/component-settings.js';
import { environmentOf } from '../support/config-problems.js';
import { readProjectFile, projectFolder } from '../support/project-file.js';

const BUILT = fileURLToPath(new URL('../../', import.meta.url));

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
  const { kind, type } = factory;
  void t.test(
    `${kind} ${type}: usable without configuration, safe to stop unstarted and twice`,
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

  void t.test(`${kind} ${type}: the configurations in its README are valid`, async (t) => {
    await checkReadme(t, `src/${kind}s/${type.replaceAll('_', '-')}/README.md`);
  });
}

void t.test('the configurations in the READMEs of plugins are valid', async (t) => {
  const folders = readdirSync(join(projectFolder(), 'plugins'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  // The price table is data that processor `cost` reads: its README shows a table. The sidecar's configurations are files of their own.
  for (const plugin of folders.filter((name) => !['prices', 'sidecar'].includes(name)))
    await checkReadme(t, `plugins/${plugin}/README.md`);
});

/** Lays every block of YAML in a README over the built-in configuration, as a user would; whole ones stand alone. */
async function checkReadme(t: Test, path: string): Promise<void> {
  const blocks = [...readProjectFile(path).matchAll(/```yaml\n([^]*?)```/g)];
  t.ok(blocks.length > 0, 'shows a configuration');
  for (const [, text = ''] of blocks) {
    // Code is loaded from where these tests were built to, templates from where they are written.
    const written = text.replaceAll('- ./plugins/', `- ${projectFolder()}/plugins/`);
    const source = { file: join(BUILT, 'readme.yaml'), text: written.replaceAll('./dist/', './') };
    const isWhole = /^service:\n {2}extensions:.*\n {2}pipelines:/m.test(text);
    const sources = isWhole ? [source] : [DEFAULT_CONFIG, source];
    const prepared = prepare(sources, environmentOf({}), builtinFactories);
    await t.resolves(prepared, `${path}:\n${text}`);
  }
}

void t.test('the engine names no concrete component', async (t) => {
  // These are also words of the configuration: `${file:…}`, a level of the log, a protocol.
  const words = ['file', 'debug', 'http'];
  const types = builtinFactories.map(({ type }) => type).filter((type) => !words.includes(type));
  const files = ['pipeline', 'config', 'component'].flatMap((layer) =>
    readdirSync(join(projectFolder(), 'src', layer), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') || file.endsWith('.md'))
      .map((file) => `src/${layer}/${file}`),
  );
  const named = files.flatMap((file) => {
    const code = readProjectFile(file).replace(/^\s*(\/?\*|\/\/).*$/gm, '');
    return types
      .filter((type) => new RegExp(`(['"\`])${type}\\1`).test(code))
      .map((type) => `${file}: ${type}`);
  });
  t.strictSame(named, []);
});
