import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';
import ts from 'typescript';

/** The layers of `src/`, from the top: each imports only from lines below its own; names on one line never import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['main', 'cli', 'builtin'],
  ['pipeline'],
  ['receivers', 'processors', 'exporters', 'extensions'],
  ['api'],
  ['alerting', 'auth'],
  ['delivery', 'otlp', 'http', 'storage'],
  ['config', 'telemetry', 'worker'],
  ['component'],
  ['signal'],
];

/** The top line is one layer of its own kind: the command line starts from `main` and uses `builtin`. */
const MAY_MEET = new Set(['main→cli', 'main→builtin', 'cli→builtin']);

/** Of these, each folder is a sibling of the others. */
const KINDS = new Set(['receivers', 'processors', 'exporters', 'extensions']);

// Compiled, this file lies in dist/test.
const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'src');

function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

function importsOf(path: string): string[] {
  return ts.preProcessFile(readFileSync(path, 'utf8')).importedFiles.map((file) => file.fileName);
}

/** `storage/duckdb/writer.ts` → `storage`; `main.ts` → `main`. */
function layerOf(path: string): string {
  return (relative(source, path).split('/')[0] ?? '').replace(/\.(ts|js)$/, '');
}

/** `receivers/trace-batch/factory.ts` → `receivers/trace-batch` */
function componentOf(path: string): string {
  return relative(source, path).split('/').slice(0, 2).join('/');
}

function lineOf(layer: string): number {
  return LAYERS.findIndex((line) => line.includes(layer));
}

function violation(from: string, to: string): string | null {
  const [upper, lower] = [layerOf(from), layerOf(to)];
  if (upper === lower) {
    if (!KINDS.has(upper) || componentOf(from) === componentOf(to)) return null;
    return `${relative(root, from)} imports the other component ${componentOf(to)}`;
  }
  if (lineOf(lower) > lineOf(upper) || MAY_MEET.has(`${upper}→${lower}`)) return null;
  return `${relative(root, from)} (${upper}) imports ${relative(root, to)} (${lower})`;
}

const files = filesBelow(source).filter((path) => relative(source, path) !== 'index.ts');

void t.test('every file of src belongs to a layer', async (t) => {
  const strangers = files.filter((path) => lineOf(layerOf(path)) < 0);
  t.same(strangers, []);
});

void t.test('imports go down the layers only, and never to a sibling', async (t) => {
  const found = files.flatMap((path) =>
    importsOf(path).flatMap((imported) => {
      if (!imported.startsWith('.')) return [];
      return violation(path, resolve(dirname(path), imported)) ?? [];
    }),
  );
  t.same(found, []);
});

void t.test('a planted violation is found', async (t) => {
  const at = (path: string): string => join(source, path);
  t.ok(violation(at('signal/span.ts'), at('component/factory.js')));
  t.ok(violation(at('storage/tables.ts'), at('http/router.js')));
  t.ok(violation(at('receivers/a/factory.ts'), at('receivers/b/factory.js')));
  t.ok(violation(at('receivers/a/factory.ts'), at('exporters/b/factory.js')));
  t.notOk(violation(at('receivers/a/factory.ts'), at('receivers/a/config.js')));
  t.notOk(violation(at('cli/run.ts'), at('pipeline/daemon.js')));
});

void t.test('the data knows nothing, the contract knows only the data and types', async (t) => {
  const outside = files
    .filter((path) => layerOf(path) === 'signal')
    .flatMap((path) => importsOf(path).filter((name) => !name.startsWith('.') && !name.startsWith('node:')));
  t.same(outside, []);
});

void t.test('plugins import nothing but the public API', async (t) => {
  const plugins = join(root, 'plugins');
  const found = filesBelow(plugins).flatMap((path) =>
    importsOf(path)
      .filter((name) => name.startsWith('.') && !resolve(dirname(path), name).startsWith(plugins))
      .map((name) => `${relative(root, path)} imports ${name}`),
  );
  t.same(found, []);
});

void t.test('only main touches the process: its end, its signals and its standard output', async (t) => {
  const touching = files
    .filter((path) => relative(source, path) !== 'main.ts')
    .filter((path) => /process\.(exit|on|once|stdout|stderr)\b/.test(readFileSync(path, 'utf8')))
    .map((path) => relative(root, path));
  t.same(touching, []);
});

void t.test('who takes the bytes of a request measures them before they are parsed', async (t) => {
  const taking = files
    .filter((path) => /\brequest\s*\.body\(/.test(readFileSync(path, 'utf8')))
    .map((path) => relative(source, path));
  // The second takes protobuf, whose decoder counts.
  t.same(taking.sort(), ['http/received-json.ts', 'receivers/otlp/decode.ts']);
});

void t.test(
  'DuckDB is loaded by the store thread only: a daemon is quicker there, and so is every command',
  async (t) => {
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
    t.ok([...loadedBy('storage/duckdb/store-thread.js')].some(isDuckDB), 'which would be found');
  },
);
