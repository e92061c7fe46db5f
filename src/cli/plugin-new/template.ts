/** The names of a new plugin. */
export interface PluginName {
  /** Name of the package and its directory: `my-plugin`. */
  readonly name: string;
  /** Type of the component in a configuration: `my_plugin`. */
  readonly type: string;
}

/** The parts of a plugin that depend on its kind. */
export interface PluginTemplate {
  /** The module: JavaScript with types in comments. */
  readonly plugin: (of: PluginName) => string;
  /** Its test, for `node --test`. */
  readonly test: (of: PluginName) => string;
  /** Purpose of the plugin in one sentence, for the README. */
  readonly does: string;
  /** An example configuration, in YAML. */
  readonly config: (of: PluginName) => string;
}

/** The end of every module. */
export function exported({ name }: PluginName, factory: string): string {
  return `/** @type {import('jackdaw').Plugin} */
const plugin = { name: '${name}', apiVersion: 1, factories: [${factory}] };
export default plugin;
`;
}
