import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { builtinFactories } from '../src/builtin.js';

/** The layers of `src/` from the top: each imports only from the lines below; names on one line never import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['main', 'program', 'cli', 'builtin', 'intake-thread'],
  ['pipeline'],
  // Support for plugin tests, which the program does not need.
  ['testing'],
  ['receivers', 'processors', 'exporters', 'extensions'],
  ['api'],
  ['alerting', 'auth', 'expressions'],
  ['delivery', 'otlp', 'http', 'storage'],
  // The rules of runs know no engine; stores and decoders use them.
  ['runs'],
  ['config', 'telemetry', 'worker'],
  ['component'],
  // Browser code uses only the API, and nothing imports it.
  ['signal', 'ui'],
];

/** The first line is special: the command line starts `main` and uses `builtin`. */
const MAY_MEET = new Set(['main→cli', 'main→program', 'program→cli', 'program→builtin', 'cli→builtin']);

/** Folders with their own layers of files and folders, in the format of {@link LAYERS}, by path below `src/`. */
const INNER_LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  api: [['routes'], ['resources'], ['lost-secrets', 'openapi', 'support']],
  delivery: [
    ['queue', 'senders'],
    ['backoff', 'http-answer', 'rendezvous'],
  ],
  otlp: [['encode'], ['map'], ['decode'], ['wire']],
  runs: [
    ['fold', 'stored-runs', 'completing-spans', 'remembered-runs'],
    ['run-state', 'repeated-spans'],
    ['run-messages', 'run-key', 'incoming-spans', 'spans'],
    ['rules'],
  ],
  'storage/clickhouse': [
    ['clickhouse-store'],
    ['transfer'],
    ['item-writes', 'run-store'],
    ['row-encoder'],
    ['alerts'],
    ['queries'],
    ['runs'],
    ['names'],
    ['logs', 'metrics'],
    ['tables'],
    ['client'],
    ['clickhouse-options', 'clickhouse-store-error'],
  ],
  storage: [['clickhouse', 'control', 'duckdb'], ['shared'], ['contracts'], ['incoming'], ['schema']],
  'storage/duckdb': [
    ['client'],
    ['thread'],
    ['transfer'],
    ['maintenance'],
    ['read'],
    ['write'],
    ['index', 'stats'],
    ['segments'],
    ['files'],
  ],
};

/** Engines use the file formats of `storage/transfer`, which reads and writes the files with DuckDB. */
const OUTSIDE_INNER_LAYERS = new Set(['storage/transfer']);

/** In these, folders are siblings of each other. */
const KINDS = new Set(['receivers', 'processors', 'exporters', 'extensions']);

// The compiled file is in dist/test.
const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'src');

function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return /\.tsx?$/.test(path) ? [path] : [];
  });
}

function importsOf(path: string): string[] {
  return ts.preProcessFile(readFileSync(path, 'utf8')).importedFiles.map((file) => file.fileName);
}

/** `storage/duckdb/writer.ts` → `storage`; `main.ts` → `main`. */
function layerOf(path: string): string {
  return (relative(source, path).split('/')[0] ?? '').replace(/\.(tsx?|js)$/, '');
}

/** `receivers/trace-batch/factory.ts` → `receivers/trace-batch` */
function componentOf(path: string): string {
  return relative(source, path).split('/').slice(0, 2).join('/');
}

function lineOf(layer: string, layers = LAYERS): number {
  return layers.findIndex((line) => line.includes(layer));
}

/** `otlp/encode/json.ts` in `otlp` → `encode`; undefined for files elsewhere. */
function partOf(path: string, folder: string): string | undefined {
  const below = relative(join(source, folder), path);
  return below.startsWith('..') ? undefined : (below.split('/')[0] ?? '').replace(/\.(tsx?|js)$/, '');
}

/** The violation of {@link INNER_LAYERS} by an import, if any. */
function innerViolations(from: string, to: string): string[] {
  return Object.entries(INNER_LAYERS).flatMap(([folder, layers]) => {
    const [upper, lower] = [partOf(from, folder), partOf(to, folder)];
    if (upper === undefined || lower === undefined || upper === lower) return [];
    if (OUTSIDE_INNER_LAYERS.has(`${folder}/${upper}`) || OUTSIDE_INNER_LAYERS.has(`${folder}/${lower}`))
      return [];
    if (lineOf(lower, layers) > lineOf(upper, layers)) return [];
    return `${relative(root, from)} imports ${relative(root, to)}, against the layers of ${folder}`;
  });
}

function violation(from: string, to: string): string | null {
  const [upper, lower] = [layerOf(from), layerOf(to)];
  if (upper === lower) {
    if (!KINDS.has(upper) || componentOf(from) === componentOf(to)) return null;
    return `${relative(root, from)} imports the other component ${componentOf(to)}`;
  }
  if ((lineOf(lower) > lineOf(upper) && lower !== 'ui') || MAY_MEET.has(`${upper}→${lower}`)) return null;
  return `${relative(root, from)} (${upper}) imports ${relative(root, to)} (${lower})`;
}

/**
 * Telemetry is in `storage/duckdb` or `storage/clickhouse`, control in `storage/control`: all use the contracts in `storage`, never each
 * other.
 */
function storeViolation(from: string, to: string): string | null {
  const stores = ['storage/duckdb', 'storage/clickhouse', 'storage/control'];
  const [upper, lower] = [componentOf(from), componentOf(to)];
  if (upper === lower || !stores.includes(upper) || !stores.includes(lower)) return null;
  return `${relative(root, from)} imports ${relative(root, to)}`;
}

/** The project files imported by a file, including type imports. */
function importedFiles(path: string): string[] {
  return importsOf(path)
    .filter((name) => name.startsWith('.'))
    .map((name) => resolve(dirname(path), name).replace(/\.js$/, '.ts'))
    .map((file) => (existsSync(file) ? file : file.replace(/\.ts$/, '.tsx')));
}

/** Files that import each other in a cycle; empty without a cycle. */
function circleAmong(paths: readonly string[]): string[] {
  const done = new Set<string>();
  const circleFrom = (path: string, way: readonly string[]): string[] => {
    if (way.includes(path)) return way.slice(way.indexOf(path)).map((file) => relative(root, file));
    if (done.has(path)) return [];
    done.add(path);
    for (const next of importedFiles(path).filter((to) => paths.includes(to))) {
      const found = circleFrom(next, [...way, path]);
      if (found.length > 0) return found;
    }
    return [];
  };
  for (const path of paths) {
    const found = circleFrom(path, []);
    if (found.length > 0) return found;
  }
  return [];
}

const files = filesBelow(source).filter((path) => relative(source, path) !== 'index.ts');

void t.test('every file of src belongs to a layer', async (t) => {
  const strangers = files.filter((path) => lineOf(layerOf(path)) < 0);
  t.same(strangers, []);
});

void t.test('files in layered folders belong to an inner layer', async (t) => {
  for (const [folder, layers] of Object.entries(INNER_LAYERS)) {
    const parts = new Set(files.flatMap((path) => partOf(path, folder) ?? []));
    for (const part of parts) if (OUTSIDE_INNER_LAYERS.has(`${folder}/${part}`)) parts.delete(part);
    t.same([...parts].sort(), layers.flat().sort(), folder);
  }
});

void t.test('imports go down the layers only, never to a sibling', async (t) => {
  const found = files.flatMap((path) =>
    importsOf(path).flatMap((imported) => {
      if (!imported.startsWith('.')) return [];
      const target = resolve(dirname(path), imported);
      return [violation(path, target) ?? [], innerViolations(path, target)].flat();
    }),
  );
  t.same(found, []);
});

void t.test('the rules of runs have no import cycles, including type imports', async (t) => {
  t.same(circleAmong(filesBelow(join(source, 'runs'))), []);
});

void t.test('the telemetry and control stores do not import each other', async (t) => {
  const found = files.flatMap((path) => importedFiles(path).flatMap((to) => storeViolation(path, to) ?? []));
  t.same(found, []);
});

void t.test('no file is in an import cycle, including type imports', async (t) => {
  t.same(circleAmong(files), []);
});

void t.test('an intake thread has every component that may run in it', async (t) => {
  const found = new Set(importedFiles(join(source, 'intake-thread.ts')));
  const placed = files.filter(
    (path) => path.endsWith('factory.ts') && /^ {2}placement:/m.test(readFileSync(path, 'utf8')),
  );
  t.ok(placed.length > 10);
  t.same(
    placed.filter((path) => !found.has(path)),
    [],
  );
});

void t.test('finds planted violations', async (t) => {
  const at = (path: string): string => join(source, path);
  t.ok(violation(at('signal/span.ts'), at('component/factory.js')));
  t.ok(violation(at('storage/schema/tables.ts'), at('http/router.js')));
  t.ok(violation(at('receivers/a/factory.ts'), at('receivers/b/factory.js')));
  t.ok(violation(at('receivers/a/factory.ts'), at('exporters/b/factory.js')));
  t.notOk(violation(at('receivers/a/factory.ts'), at('receivers/a/config.js')));
  t.ok(violation(at('ui/trace/span.ts'), at('signal/span.js')));
  t.ok(violation(at('api/routes.ts'), at('ui/trace/span.js')));
  t.ok(storeViolation(at('storage/control/migrate.ts'), at('storage/duckdb/connection.ts')));
  t.ok(storeViolation(at('storage/duckdb/main-tables.ts'), at('storage/control/migrate.ts')));
  t.notOk(storeViolation(at('storage/control/sqlite/a.ts'), at('storage/control/postgres/b.ts')));
  t.notOk(storeViolation(at('storage/control/migrate.ts'), at('storage/contracts/coordination.ts')));
  t.notOk(violation(at('cli/run.ts'), at('pipeline/daemon.js')));
  t.same(innerViolations(at('otlp/wire/ids.ts'), at('otlp/map/names.js')).length, 1);
  t.same(innerViolations(at('otlp/decode/json.ts'), at('otlp/map/names.js')).length, 1);
  t.same(innerViolations(at('otlp/map/names.ts'), at('otlp/map/origin.js')), []);
  t.same(innerViolations(at('otlp/encode/json.ts'), at('otlp/wire/ids.js')), []);
});

void t.test('signal imports nothing and component imports only signal and types', async (t) => {
  const outside = files
    .filter((path) => layerOf(path) === 'signal')
    .flatMap((path) => importsOf(path).filter((name) => !name.startsWith('.') && !name.startsWith('node:')));
  t.same(outside, []);
});

void t.test('plugins import only the public API', async (t) => {
  const plugins = join(root, 'plugins');
  const found = filesBelow(plugins).flatMap((path) =>
    importsOf(path)
      .filter((name) => name.startsWith('.') && !resolve(dirname(path), name).startsWith(plugins))
      .map((name) => `${relative(root, path)} imports ${name}`),
  );
  t.same(found, []);
});

void t.test('only main uses process exit, signals and standard output', async (t) => {
  const touching = files
    .filter((path) => relative(source, path) !== 'main.ts')
    .filter((path) => /process\.(exit|on|once|stdout|stderr)\b/.test(readFileSync(path, 'utf8')))
    .map((path) => relative(root, path));
  t.same(touching, []);
});

void t.test('request bodies are measured before they are parsed', async (t) => {
  const taking = files
    // Templates of new plugins, which run elsewhere.
    .filter((path) => !relative(source, path).startsWith('cli/plugin-new/'))
    .filter((path) => /\brequest\s*\.body\(/.test(readFileSync(path, 'utf8')))
    .map((path) => relative(source, path));
  // The second one decodes protobuf, whose decoder counts fields.
  t.same(taking.sort(), ['http/received-json.ts', 'receivers/otlp/decode.ts']);
});

void t.test('only the store thread loads DuckDB', async (t) => {
  const compiled = resolve(import.meta.dirname, '../src');
  const loadedBy = (start: string): ReadonlySet<string> => {
    const found = new Set([join(compiled, start)]);
    for (const path of found) {
      if (!path.startsWith(compiled)) continue;
      for (const name of importsOf(path))
        found.add(name.startsWith('.') ? resolve(dirname(path), name) : name);
    }
    return found;
  };
  const isDuckDB = (name: string): boolean => name.startsWith('@duckdb/');
  t.same([...loadedBy('main.js')].filter(isDuckDB), []);
  t.ok([...loadedBy('storage/duckdb/thread/store-thread.js')].some(isDuckDB), 'the check would find it');
});

void t.test('the engine names no concrete component', (t) => {
  // Also used in the configuration: `${file:…}`, a log level, a protocol.
  const words = ['file', 'debug', 'http'];
  const types = builtinFactories.map(({ type }) => type).filter((type) => !words.includes(type));
  const files = ['pipeline', 'config', 'component'].flatMap((layer) =>
    readdirSync(join(source, layer), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') || file.endsWith('.md'))
      .map((file) => join(layer, file)),
  );
  const named = files.flatMap((file) => {
    const code = readFileSync(join(source, file), 'utf8').replace(/^\s*(\/?\*|\/\/).*$/gm, '');
    return types
      .filter((type) => new RegExp(`(['"\`])${type}\\1`).test(code))
      .map((type) => `${file}: ${type}`);
  });
  t.strictSame(named, []);
  t.end();
});
