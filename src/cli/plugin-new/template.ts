/** The names of a new plugin. */
export interface PluginName {
  /** Of the package and of its folder: `my-plugin`. */
  readonly name: string;
  /** Of the component in a configuration: `my_plugin`. */
  readonly type: string;
}

/** The differences between the plugin kinds of `jackdaw plugin new`. */
export interface PluginTemplate {
  /** The module, in JavaScript with types in comments. */
  readonly plugin: (of: PluginName) => string;
  /** Its test, for `node --test`. */
  readonly test: (of: PluginName) => string;
  /** Purpose of the plugin in one sentence, for the README. */
  readonly does: string;
  /** Its part of a configuration, in YAML. */
  readonly config: (of: PluginName) => string;
}

/** The end of every module. */
export function exported({ name }: PluginName, factory: string): string {
  return `/** @type {import('jackdaw').Plugin} */
const plugin = { name: '${name}', apiVersion: 1, factories: [${factory}] };
export default plugin;
`;
}
