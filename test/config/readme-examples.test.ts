import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { builtinFactories } from '../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { editorSchema } from '../../src/config/editor-schema.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf } from '../support/config-problems.js';
import { readProjectFile } from '../support/project-file.js';

const isForEditors = new Ajv({ strict: false }).compile(editorSchema(builtinFactories));

for (const { kind, type, configSchema } of builtinFactories) {
  const file = `src/${kind}s/${type.replaceAll('_', '-')}/README.md`;

  void t.test(
    `${file} shows a configuration that is valid over the built-in one, and every key`,
    async (t) => {
      const text = readProjectFile(file);
      const example = /```yaml\n(.*?)```/s.exec(text)?.[1];
      t.ok(example, 'there is an example');
      const sources = [DEFAULT_CONFIG, { file, text: example ?? '' }];
      const { plan, warnings } = await prepare(sources, environmentOf({}), builtinFactories);
      t.strictSame(warnings, []);
      t.match(example, new RegExp(`^  ${type}(/.+)?:`, 'm'));
      t.ok(plan.extensions.length > 0);
      t.ok(isForEditors(sectionsOf(example ?? '')), 'an editor takes its components');
      const misspelt = (example ?? '').replace(
        new RegExp(`^  ${type}(/.+)?:.*$`, 'm'),
        '$&\n    misspelt: 1',
      );
      t.notOk(isForEditors(sectionsOf(misspelt)), 'and not with a key that nobody knows');
      for (const key of Object.keys(configSchema.properties)) t.match(text, key, `${key} is explained`);
    },
  );
}

/** Without the pipelines: what is laid over others may leave out what the schema asks for in a file by itself. */
function sectionsOf(text: string): object {
  const sections = parse(text) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(sections).filter(([name]) => name !== 'service'));
}
