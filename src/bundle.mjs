// Puts what the program and its threads begin with into dist/bundle, each with all that it imports in a few files: to find, read and
// compile 2300 small ones is most of what a start takes. dist/src stays: tests, plugins and types are made from it.
// Nothing happens where the bundle is newer than what it is made from.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '..');
const COMPILED = join(ROOT, 'dist/src');
const TARGET = join(ROOT, 'dist/bundle');
const INPUTS = ['dist/.tsbuildinfo', 'package-lock.json', 'src/bundle.mjs'];

/** What `src/config/built-module.ts` finds by the last part of the name. */
const ENTRIES = [
  'program.js',
  'index.js',
  'exporters/webhook/webhook-thread.js',
  'http/inflate-thread.js',
  'storage/control/control-thread.js',
  'storage/duckdb/thread/store-thread.js',
  'storage/duckdb/files/parquet-files.js',
  'storage/duckdb/files/store-check.js',
];

/** Native, optional, or with files of their own that they start threads with. */
const OUTSIDE =
  /^(@clickhouse\/|@duckdb\/node-bindings|@photostructure\/|pg-native$|pino|piscina$|snappy$|uWebSockets\.js$)/;

/**
 * What is required, and not imported, so that the compiled modules load faster (`src/storage/duckdb/files/connection.ts`) is in the bundle,
 * too: it has 120 files.
 */
const required = {
  name: 'required',
  transform: {
    filter: { code: "createRequire(import.meta.url)('" },
    handler: (code) =>
      code.replace(
        /createRequire\(import\.meta\.url\)\('([^']+)'\)(?=;)/,
        (_, name) => `requiredPackage;\nimport requiredPackage from '${name}'`,
      ),
  },
};

/** A module finds files from where it was, and not from the file that it was put into. */
const ownPlace = {
  name: 'own-place',
  transform: {
    filter: { id: /dist[\\/]src[\\/](?!config[\\/]built-module)/, code: 'import.meta.url' },
    handler: (code, id) => {
      const place = relative(TARGET, id).split(sep).join('/');
      return code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`);
    },
  },
};

if (!isFresh()) {
  // Beside the target and moved at the end, so that who starts meanwhile finds the files of one build.
  const fresh = `${TARGET}.${process.pid}`;
  try {
    const bundle = await rolldown({
      input: ENTRIES.map((entry) => join(COMPILED, entry)),
      platform: 'node',
      external: OUTSIDE,
      plugins: [required, ownPlace],
      onLog(level, { message }) {
        throw new Error(`${level}: ${message}`);
      },
    });
    const { output } = await bundle.write({ dir: fresh, chunkFileNames: 'part-[hash].js' });
    await bundle.close();
    writeFileSync(join(fresh, 'LICENSES.txt'), licenses(output.flatMap(({ moduleIds }) => moduleIds)));
    rmSync(TARGET, { recursive: true, force: true });
    renameSync(fresh, TARGET);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function isFresh() {
  if (!existsSync(TARGET)) return false;
  const { mtimeMs } = statSync(TARGET);
  return INPUTS.every((path) => statSync(join(ROOT, path)).mtimeMs < mtimeMs);
}

/** Of the packages that are in the bundle, as they ask to be handed on. */
function licenses(modules) {
  const folders = new Set(modules.map(packageOf).filter((folder) => folder !== null));
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
      const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
      return [`${name} ${version} (${license})`, ...texts].join('\n\n');
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`);
}

function packageOf(module) {
  for (let folder = dirname(module); folder.includes('node_modules'); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    // Some have one more to say how files of a folder are to be loaded.
    if (existsSync(manifest) && 'version' in JSON.parse(readFileSync(manifest, 'utf8'))) return folder;
  }
  return null;
}
