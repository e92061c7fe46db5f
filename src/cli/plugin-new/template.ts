/** What a new plugin is called. */
export interface PluginName {
  /** Of the package and of its folder: `my-plugin`. */
  readonly name: string;
  /** Of the component in a configuration: `my_plugin`. */
  readonly type: string;
}

/** What differs between the kinds of plugins that are begun with `jackdaw plugin new`. */
export interface PluginTemplate {
  /** The module, in JavaScript with types in comments. */
  readonly plugin: (of: PluginName) => string;
  /** Its test, for `node --test`. */
  readonly test: (of: PluginName) => string;
  /** What it does, for the README: one sentence. */
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
