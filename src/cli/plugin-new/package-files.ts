import type { Kind } from '../../component/component-id.js';
import type { PluginName, PluginTemplate } from './template.js';

/**
 * The files of a new plugin, by name.
 *
 * @param version of the program
 */
export function packageFiles(
  of: PluginName,
  kind: Kind,
  template: PluginTemplate,
  version: string,
): Readonly<Record<string, string>> {
  const config = `plugins:\n  - ./plugin.js # or the name of the installed package: ${of.name}\n${template.config(of)}`;
  return {
    'package.json': packageJson(of, kind, version),
    'plugin.js': template.plugin(of),
    'plugin.test.js': template.test(of),
    'jackdaw.yaml': `# Laid over a whole configuration: jackdaw run --config config.yaml --config jackdaw.yaml\n${config}`,
    'tsconfig.json': `${JSON.stringify(TSCONFIG, null, 2)}\n`,
    'README.md': readme(of, kind, template, config),
    '.gitignore': 'node_modules/\n*.tgz\ndata/\n',
  };
}

/** Type-checks JavaScript through its JSDoc comments; nothing is built. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'es2024.string'],
    types: ['node'],
    module: 'nodenext',
    checkJs: true,
    allowJs: true,
    noEmit: true,
    strict: true,
    skipLibCheck: true,
  },
  include: ['*.js'],
};

function packageJson({ name }: PluginName, kind: Kind, version: string): string {
  const [major, minor] = version.split('.');
  const manifest = {
    name,
    version: '0.1.0',
    description: `A plugin for Jackdaw: a${kind === 'exporter' || kind === 'extension' ? 'n' : ''} ${kind}.`,
    license: 'UNLICENSED',
    type: 'module',
    exports: './plugin.js',
    files: ['plugin.js', 'README.md'],
    engines: { node: '>=20.19.0' },
    scripts: { test: 'node --test' },
    keywords: ['jackdaw', 'jackdaw-plugin', kind],
    // The running program provides this dependency to the plugin. Install it only for types and the test kit.
    peerDependencies: { jackdaw: `^${major ?? '0'}.${minor ?? '0'}.0` },
    peerDependenciesMeta: { jackdaw: { optional: true } },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function readme({ name, type }: PluginName, kind: Kind, { does }: PluginTemplate, config: string): string {
  return `# ${name}

A plugin for Jackdaw with the ${kind} \`${type}\`.

${does}

\`\`\`yaml
${config}\`\`\`

- \`plugin.js\` is the whole plugin. Its only import is \`jackdaw\`. Its types are in comments: to check them, install \`typescript\` and \`@types/node\` and run \`npx tsc\`.
- \`npm test\` runs \`plugin.test.js\`: the conformance kit of \`jackdaw/testing\` and the plugin's own tests. Install the package \`jackdaw\` first: \`npm install --save-dev PATH-OF-JACKDAW\`.
- To publish it, run \`npm pack\`, then \`npm install ${name}-0.1.0.tgz\` next to a configuration with \`plugins: [${name}]\`.
- \`plugin_limits\` in the section of a component sets its limits. The contract of plugins is in \`plugins/README.md\` of Jackdaw.
`;
}
