import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageRoot } from './package-root.js';

/** The output folder of `src/bundle.mjs`. */
const BUNDLE = join('dist', 'bundle');
/** The build info that `tsc` rewrites after each compilation. Packages do not contain it. */
const COMPILED = join('dist', '.tsbuildinfo');

/** `src/bundle.mjs` rewrites `import.meta.url` in all other modules, so only here it is the bundle's own location. */
const here = dirname(fileURLToPath(import.meta.url));
/** The bundle that it is part of. */
const own = here.endsWith(BUNDLE) ? here : null;
let fresh: string | null | undefined;

/**
 * The entry module of a process or a thread. Prefers the bundle, which has a few files and loads in a third of the time, unless the
 * program was compiled after it was bundled.
 *
 * @param compiled a file of the program that `src/bundle.mjs` names
 */
export function firstModule(compiled: URL): URL {
  fresh ??= own ?? freshBundle();
  return from(fresh, compiled);
}

/**
 * A module for a running program: from the bundle if the program runs from there, so that no class is loaded twice.
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

/** In ms, or `null` if the file does not exist. */
function writtenAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
