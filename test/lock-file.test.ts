import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import t from 'tap';

interface Locked {
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

// Compiled, this file lies in dist/test.
const path = resolve(import.meta.dirname, '../../package-lock.json');
const { packages } = JSON.parse(readFileSync(path, 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

void t.test(
  'npm ci finds the packages of every platform, whichever platform wrote the lock file',
  async (t) => {
    const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${place}/node_modules/${name}` in packages),
      ),
    );
    t.same(missing, []);
  },
);

void t.test('the lock file names no registry', async (t) => {
  const named = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined);
  t.same(named, []);
});

void t.test('no package runs a script when it is installed', async (t) => {
  const running = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  t.same(running, []);
});
