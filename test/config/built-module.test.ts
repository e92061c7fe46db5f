import { cpSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import type * as Built from '../../src/config/built-module.js';
import { projectFolder } from '../support/project-file.js';
import { testFolder } from '../support/test-folder.js';

type BuiltModule = typeof Built;

const THREAD = new URL('file:///there/dist/src/storage/a-thread.js');

/** A project whose module reports its own location. @param times of the bundle and the compiled files, in s */
async function aProject(
  t: Test,
  times: { readonly bundle?: number; readonly compiled?: number },
): Promise<Project> {
  const folder = testFolder(t);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [place, file] of [
    ['src/config', 'built-module.js'],
    ['src/config', 'package-root.js'],
    ...(times.bundle === undefined
      ? []
      : [
          ['bundle', 'built-module.js'],
          ['bundle', 'package-root.js'],
        ]),
  ] as const) {
    mkdirSync(join(folder, 'dist', place), { recursive: true });
    cpSync(join(projectFolder(), 'dist/src/config', file), join(folder, 'dist', place, file));
  }
  writeFileSync(join(folder, 'dist/.tsbuildinfo'), '{}');
  const { bundle, compiled = 0 } = times;
  if (bundle !== undefined) utimesSync(join(folder, 'dist/bundle'), bundle, bundle);
  utimesSync(join(folder, 'dist/.tsbuildinfo'), compiled, compiled);
  const load = async (place: string) =>
    (await import(pathToFileURL(join(folder, 'dist', place, 'built-module.js')).href)) as BuiltModule;
  return { bundled: pathToFileURL(join(folder, 'dist/bundle/a-thread.js')).href, load };
}

interface Project {
  readonly bundled: string;
  readonly load: (place: string) => Promise<BuiltModule>;
}

void t.test('a thread uses a bundle newer than the compiled modules', async (t) => {
  const { bundled, load } = await aProject(t, { bundle: 2000, compiled: 1000 });
  const { firstModule, furtherModule } = await load('src/config');
  t.equal(firstModule(THREAD).href, bundled);
  t.equal(furtherModule(THREAD), THREAD, 'a module loaded elsewhere uses its own modules');
});

void t.test('ignores a bundle older than the compiled modules', async (t) => {
  const { load } = await aProject(t, { bundle: 1000, compiled: 2000 });
  const { firstModule } = await load('src/config');
  t.equal(firstModule(THREAD), THREAD);
});

void t.test('uses the compiled modules without a bundle', async (t) => {
  const { load } = await aProject(t, {});
  t.equal((await load('src/config')).firstModule(THREAD), THREAD);
});

void t.test('modules of a bundle load others from it, even after a compilation', async (t) => {
  const { bundled, load } = await aProject(t, { bundle: 1000, compiled: 2000 });
  const { firstModule, furtherModule } = await load('bundle');
  t.equal(firstModule(THREAD).href, bundled);
  t.equal(furtherModule(THREAD).href, bundled);
});
