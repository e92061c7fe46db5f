// Builds the browser's code into dist/ui: checks its types, bundles it, and compresses each file as .br and .gz.
// Does nothing if the inputs are unchanged since the last build.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const SOURCE = import.meta.dirname;
const ROOT = resolve(SOURCE, '../..');
const TARGET = join(ROOT, 'dist/ui');
/** Outside the target, whose files are served. */
const STAMP = join(ROOT, 'dist/.ui-inputs');

const inputs = hashOfInputs();
if (!existsSync(join(TARGET, 'index.html')) || stamped() !== inputs) {
  // Built next to the target and moved at the end, so that concurrent readers find the files of one build.
  const fresh = `${TARGET}.${process.pid}`;
  try {
    execFileSync(process.execPath, [bin('typescript/bin/tsc'), '-p', SOURCE], { stdio: 'inherit' });
    const { build } = await import('vite');
    await build({ configFile: join(SOURCE, 'vite.config.mjs'), logLevel: 'warn', build: { outDir: fresh } });
    for (const name of readdirSync(fresh, { recursive: true })) compress(join(fresh, name));
    rmSync(TARGET, { recursive: true, force: true });
    renameSync(fresh, TARGET);
    writeFileSync(STAMP, inputs);
  } catch (error) {
    // tsc has already printed its errors.
    if (error.status === undefined) throw error;
    process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** A hash of the sources and the versions of the libraries. */
function hashOfInputs() {
  const hash = createHash('sha256');
  const files = readdirSync(SOURCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [join(ROOT, 'package-lock.json'), join(ROOT, 'tsconfig.json'), ...files]) {
    hash
      .update(`${file.slice(ROOT.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function stamped() {
  return existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : undefined;
}

function bin(name) {
  return join(ROOT, 'node_modules', name);
}

/** Writes `path.br` and `path.gz` at the highest level, for text files only. */
function compress(path) {
  if (!/\.(html|js|css|svg)$/.test(path)) return;
  const content = readFileSync(path);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
}
