import t from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf } from '../support/config-problems.js';
import { readProjectFile } from '../support/project-file.js';

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
      for (const key of Object.keys(configSchema.properties)) t.match(text, key, `${key} is explained`);
    },
  );
}
