// Bundles the entry points of the program and its threads into dist/bundle: finding, reading and compiling 2300 small files takes most of
// a start. dist/src stays for tests, plugins and types. Does nothing if the bundle is newer than its inputs.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '..');
const COMPILED = join(ROOT, 'dist/src');
const TARGET = join(ROOT, 'dist/bundle');
const INPUTS = ['dist/.tsbuildinfo', 'package-lock.json', 'src/bundle.mjs'];

/** `src/config/built-module.ts` finds these by the last part of the name. */
const ENTRIES = [
  'program.js',
  'index.js',
  'exporters/webhook/webhook-thread.js',
  'http/inflate-thread.js',
  'intake-thread.js',
  'storage/control/control-thread.js',
  'storage/duckdb/thread/store-thread.js',
  'storage/duckdb/files/parquet-files.js',
  'storage/duckdb/files/store-check.js',
];

/** Not bundled: native or optional packages, and packages that start threads from their own files. */
const OUTSIDE =
  /^(@aws-sdk\/|@clickhouse\/|@duckdb\/node-bindings|@photostructure\/|pg-native$|pino|piscina$|snappy$|uWebSockets\.js$)/;

/**
 * Also bundles the package of 120 files that is required instead of imported, to load the compiled modules faster
 * (`src/storage/duckdb/files/connection.ts`).
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

/** Modules resolve paths relative to their original location instead of the bundle's. */
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

/** Reading `globalThis.Headers` loads the copy of undici inside Node, 6 MB more; only undici's functions for cookies need it. */
const oneUndici = {
  name: 'one-undici',
  transform: {
    filter: { id: /node_modules[\\/]undici[\\/]/, code: 'globalThis.Headers' },
    handler: (code) => code.replaceAll('globalThis.Headers', 'undefined'),
  },
};

if (!isFresh()) {
  // Built next to the target and moved at the end, so that a concurrent start finds the files of one build.
  const fresh = `${TARGET}.${process.pid}`;
  try {
    const bundle = await rolldown({
      input: ENTRIES.map((entry) => join(COMPILED, entry)),
      platform: 'node',
      external: OUTSIDE,
      plugins: [required, ownPlace, oneUndici],
      onLog(level, { message }) {
        throw new Error(`${level}: ${message}`);
      },
    });
    const { output } = await bundle.write({ dir: fresh, chunkFileNames: 'part-[hash].js', comments: false });
    await bundle.close();
    for (const { fileName, code } of output) writeFileSync(join(fresh, fileName), latin1(code));
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

/** V8 keeps the sources of modules in memory, with two bytes for each character of a source that is not Latin-1. */
function latin1(code) {
  return code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The licenses of the bundled packages, which require them to be distributed. */
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
    // Some packages have further manifests that only say how a folder's files are loaded.
    if (existsSync(manifest) && 'version' in JSON.parse(readFileSync(manifest, 'utf8'))) return folder;
  }
  return null;
}
