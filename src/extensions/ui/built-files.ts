import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { entityTag } from '../../http/entity-tag.js';

/** A file of the build in one encoding. */
interface BuiltForm {
  /** Its name in `Content-Encoding`; the plain file has none. */
  readonly coding: string | undefined;
  readonly body: Uint8Array;
  readonly tag: string;
}

export interface BuiltFile {
  /** Path below the folder, with slashes: `assets/main-Bx3k9.js`. */
  readonly name: string;
  readonly contentType: string;
  /** The smallest first, the plain one last. */
  readonly forms: readonly BuiltForm[];
}

/** Compressed forms that the build writes, best first. */
const CODINGS = [
  { suffix: '.br', name: 'br' },
  { suffix: '.gz', name: 'gzip' },
] as const;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
const OTHER_TYPE = 'application/octet-stream';

/** A path that is the same with and without URL encoding. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/**
 * Reads a folder of built files into memory: it has a few megabytes, and requests then need no disk.
 *
 * @returns the files sorted by name; empty if the folder does not exist
 * @throws Error if it cannot be read, or a name is not valid in a URL
 */
export async function readBuiltFiles(folder: string): Promise<readonly BuiltFile[]> {
  const names = await namesBelow(folder);
  const all = new Set(names);
  const isForm = (name: string): boolean =>
    CODINGS.some(({ suffix }) => name.endsWith(suffix) && all.has(name.slice(0, -suffix.length)));
  const files: BuiltFile[] = [];
  for (const name of names.filter((name) => !isForm(name)).sort()) {
    if (!NAME.test(name))
      throw new Error(`${join(folder, name)} has a name that is not valid in a URL: rebuild the pages`);
    const forms: BuiltForm[] = [];
    for (const { suffix, name: coding } of CODINGS)
      if (all.has(name + suffix)) forms.push(form(coding, await readFile(join(folder, name + suffix))));
    forms.push(form(undefined, await readFile(join(folder, name))));
    files.push({ name, contentType: CONTENT_TYPES[extname(name)] ?? OTHER_TYPE, forms });
  }
  return files;
}

function form(coding: string | undefined, body: Uint8Array): BuiltForm {
  return { coding, body, tag: entityTag(body) };
}

async function namesBelow(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .replaceAll('\\', '/'),
      );
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
