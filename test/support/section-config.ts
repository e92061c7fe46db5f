import type { Static, TObject } from 'typebox';
import { loadTree } from '../../src/config/load.js';
import { checkSchema } from '../../src/config/schema-check.js';
import { environmentOf } from './config-problems.js';

/**
 * A component configuration as the engine provides it: merged from YAML texts, validated, with defaults.
 *
 * @throws Error with all problems
 */
export function sectionConfig<Schema extends TObject>(
  schema: Schema,
  ...yaml: readonly string[]
): Static<Schema> {
  const sources = yaml.map((text, index) => ({ file: `test-${index}.yaml`, text }));
  const { root } = loadTree(sources, environmentOf({}));
  const { value, problems } = checkSchema(schema, root, []);
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('; '));
  return value as Static<Schema>;
}
