import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { chromium, type Browser } from 'playwright-core';

const require = createRequire(import.meta.url);
/** `main` is in `build/cjs`, next to the packed binary. */
const PACKAGE = resolve(dirname(require.resolve('@sparticuz/chromium')), '../..');
// The compiled file is in dist/test/support. Unpacked once per clone, next to ESLint's cache.
const CACHE = resolve(import.meta.dirname, '../../../.cache');

const FLAGS = ['--headless=shell', '--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'];

/** Starts the browser of the package `@sparticuz/chromium`, with the libraries of the package if the system lacks them. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = await binary();
  try {
    return await chromium.launch({ executablePath, args: FLAGS });
  } catch (error) {
    if (!/error while loading shared libraries/.test(String(error))) throw error;
    const env = { ...process.env, LD_LIBRARY_PATH: await libraries() };
    return await chromium.launch({ executablePath, args: FLAGS, env });
  }
}

/** Path of the browser. */
function binary(): Promise<string> {
  return once('chromium', async (path) => {
    const bytes = await promisify(brotliDecompress)(await readFile(join(PACKAGE, 'bin/chromium.br')));
    writeFileSync(path, bytes, { mode: 0o755 });
  });
}

/** Path of a library folder. */
async function libraries(): Promise<string> {
  const folder = await once('libraries', async (path) => {
    // The package unpacks into the temporary folder, which is per process.
    const unpack = 'require(process.argv[1]).inflate(process.argv[2])';
    const files = [join(PACKAGE, 'build/cjs/lambdafs.cjs'), join(PACKAGE, 'bin/al2023.tar.br')];
    mkdirSync(path);
    await promisify(execFile)(process.execPath, ['-e', unpack, ...files], {
      env: { ...process.env, TMPDIR: path },
    });
  });
  return join(folder, 'al2023/lib');
}

/**
 * Returns a cached file or creates it. If several test files do so at once, the first one wins.
 *
 * @param make writes it to a temporary path
 */
async function once(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const { version } = require(join(PACKAGE, 'package.json')) as { readonly version: string };
  const path = join(CACHE, `${name}-${version}`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(`${path}.`);
  try {
    const mine = join(folder, name);
    await make(mine);
    renameSync(mine, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return path;
}
