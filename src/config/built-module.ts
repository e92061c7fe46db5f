import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageRoot } from './package-root.js';

/** Where `src/bundle.mjs` writes. */
const BUNDLE = join('dist', 'bundle');
/** What `tsc` writes anew whenever it compiled something. Packages have none. */
const COMPILED = join('dist', '.tsbuildinfo');

/** Of all modules this alone is not told its place in `dist/src`. */
const here = dirname(fileURLToPath(import.meta.url));
/** The bundle that it is part of. */
const own = here.endsWith(BUNDLE) ? here : null;
let fresh: string | null | undefined;

/**
 * The module with which a process or a thread begins: from the bundle, the same in a few files, which loads in a third of the
 * time. Where the program was compiled since it was bundled, the compiled one.
 *
 * @param compiled a file of the program that `src/bundle.mjs` names
 */
export function firstModule(compiled: URL): URL {
  fresh ??= own ?? freshBundle();
  return from(fresh, compiled);
}

/**
 * A module for whoever runs already: from the bundle if it runs from there, so that no class is there twice.
 *
 * @param compiled as for `firstModule`
 */
export function furtherModule(compiled: URL): URL {
  return from(own, compiled);
}

function from(folder: string | null, compiled: URL): URL {
  return folder === null ? compiled : pathToFileURL(join(folder, basename(fileURLToPath(compiled))));
}

function freshBundle(): string | null {
  const folder = join(packageRoot(), BUNDLE);
  const bundled = writtenAt(folder);
  if (bundled === null) return null;
  return bundled < (writtenAt(join(packageRoot(), COMPILED)) ?? 0) ? null : folder;
}

/** In ms, or `null` where there is no such file. */
function writtenAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
