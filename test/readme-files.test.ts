import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';

// The compiled file is in dist/test.
const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'src');

function pagesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return pagesBelow(path);
    return path.endsWith('.md') ? [path] : [];
  });
}

/**
 * `storage/schema/tables.ts` or `../engine/store.ts` in backquotes; names with a wildcard (`encode-*.ts`, `…-rows.ts`) match several
 * files.
 */
function namedFiles(text: string): string[] {
  return [...text.matchAll(/`([\w./-]+\.c?ts)`/g)].flatMap(([, name]) => name ?? []);
}

/** Link targets in the repository, without headings. */
function linked(text: string): string[] {
  return [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)[^)]*\)/g)].flatMap(([, target]) => target ?? []);
}

/**
 * Missing files that a page names, relative to the page's folder, a direct subfolder, `src` or the root; and missing links, relative to
 * its folder.
 */
function missing(page: string, text: string): string[] {
  const folder = dirname(page);
  const below = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? join(folder, entry.name) : [],
  );
  const isThere = (name: string): boolean =>
    [folder, ...below, source, root].some((from) => existsSync(join(from, name)));
  return [
    ...namedFiles(text).filter((name) => !isThere(name)),
    ...linked(text).filter((target) => !existsSync(join(folder, target))),
  ].map((name) => `${relative(root, page)} names ${name}`);
}

const pages = pagesBelow(source);

void t.test('files and links named in pages below src exist', async (t) => {
  t.same(
    pages.flatMap((page) => missing(page, readFileSync(page, 'utf8'))),
    [],
  );
});

void t.test('a missing one is found', async (t) => {
  const page = join(source, 'storage', 'README.md');
  t.same(
    missing(
      page,
      '`schema/tables.ts`, `http/router.ts`, `test/architecture.test.ts`, `…-rows.ts`, [x](duckdb/)',
    ),
    [],
  );
  t.same(missing(page, '`tabels.ts` and [gone](gone/README.md#here)').length, 2);
});
