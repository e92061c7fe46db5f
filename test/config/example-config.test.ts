import t from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { AuthSchema, SecretsSchema, ServiceSchema, SmtpSchema } from '../../src/config/file-schema.js';
import type { ConfigSource } from '../../src/config/load.js';
import type { JsonSchema } from '../../src/config/plain-value.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf } from '../support/config-problems.js';
import { readProjectFile } from '../support/project-file.js';

const EXAMPLE = { file: 'config.example.yaml', text: readProjectFile('config.example.yaml') };

/** The effective configuration with defaults. */
async function effective(source: ConfigSource) {
  const { config, plan, warnings } = await prepare([source], environmentOf({}), builtinFactories);
  const sections = Object.values(config.components).flatMap((components) =>
    [...components.values()].map(({ kind, id, config: section }) => [`${kind} ${id}`, section] as const),
  );
  return {
    auth: config.auth,
    secretKeeping: config.secretKeeping,
    smtp: config.smtp,
    service: config.service,
    components: Object.fromEntries(sections.sort(([a], [b]) => (a < b ? -1 : 1))),
    extensions: plan.extensions.map(({ id }) => id),
    warnings,
  };
}

void t.test('config.example.yaml equals the default configuration', async (t) => {
  const [example, builtIn] = await Promise.all([effective(EXAMPLE), effective(DEFAULT_CONFIG)]);
  t.strictSame(example, builtIn);
  t.strictSame(example.warnings, []);
});

void t.test('config.example.yaml shows every key of every built-in component', async (t) => {
  const own = [AuthSchema, SecretsSchema, ServiceSchema, SmtpSchema];
  const used = [...builtinFactories.map(({ configSchema }) => configSchema), ...own];
  for (const key of used.flatMap((schema) => keysOf(schema as object)))
    t.match(EXAMPLE.text, new RegExp(`^[ #]*${key}:`, 'm'), key);
});

void t.test('every key of every built-in component is described', async (t) => {
  for (const factory of builtinFactories) {
    const schema: JsonSchema = JSON.parse(JSON.stringify(factory.configSchema)) as JsonSchema;
    for (const [key, child] of Object.entries(schema.properties ?? {}))
      t.ok('description' in child || key === 'tls', `${factory.type}.${key}`);
  }
});

function keysOf(schema: JsonSchema): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => [key, ...keysOf(child)]);
}
