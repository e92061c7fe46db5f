import type { Static, TObject } from 'typebox';
import { checkSchema } from '../config/schema-check.js';
import { nodeAt } from '../config/config-node.js';
import { parseYaml } from '../config/parse-yaml.js';

/** The parts of a factory that are read here. */
interface Described<Schema extends TObject> {
  readonly kind: string;
  readonly type: string;
  readonly configSchema: Schema;
  check?(config: Static<Schema>): readonly { readonly path: string; readonly message: string }[];
}

/**
 * A component's section as the daemon would give it: checked, defaults filled in.
 *
 * @param written as in the configuration file: a map, or YAML
 * @throws Error with everything that is wrong with it
 */
export function sectionOf<Schema extends TObject>(
  factory: Described<Schema>,
  written: object | string = {},
): Static<Schema> {
  const text =
    typeof written === 'string'
      ? `section:\n${written.replaceAll(/^/gm, '  ')}`
      : JSON.stringify({ section: written });
  const { root, problems } = parseYaml(text, `${factory.type}.yaml`);
  if (root === undefined || nodeAt(root, ['section']) === undefined)
    throw new Error(problems.map(({ message }) => message).join('; '));
  const checked = checkSchema(factory.configSchema, root, ['section']);
  const value = checked.value as Static<Schema>;
  const wrong =
    checked.problems.length > 0
      ? checked.problems.map(({ path, message }) => `${path.slice(1).join('.')}: ${message}`)
      : (factory.check?.(value) ?? []).map(({ path, message }) => `${path}: ${message}`);
  if (wrong.length > 0) throw new Error(`${factory.kind} "${factory.type}": ${wrong.join('; ')}`);
  return value;
}
