import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { SAFETY_HEADERS } from '../../src/extensions/ui/file-routes.js';

// The compiled file is in dist/test/ui.
const ROOT = resolve(import.meta.dirname, '../../..');
const BUILT = join(ROOT, 'dist/ui');
const SOURCE = join(ROOT, 'src/ui');

/** Gzipped bytes before the first page, and those added by a page. */
const MOST_FIRST = 200 * 1024;
const MOST_LATER = 130 * 1024;

function zipped(name: string): number {
  return readFileSync(join(BUILT, `${name}.gz`)).length;
}

void t.test('the first load and later ones stay within their budgets', async (t) => {
  const html = readFileSync(join(BUILT, 'index.html'), 'utf8');
  const first = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, name = '']) => name,
  );
  t.ok(first.length >= 2, 'at least a script and a stylesheet');
  const sum = first.reduce((size, name) => size + zipped(name), 0);
  t.ok(sum <= MOST_FIRST, `${String(sum)} bytes`);
  const later = readdirSync(join(BUILT, 'assets'))
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => `assets/${name}`);
  t.same(
    later.filter((name) => !first.includes(name) && zipped(name) > MOST_LATER),
    [],
  );
});

void t.test('loads nothing from other hosts and nothing inline', async (t) => {
  const html = readFileSync(join(BUILT, 'index.html'), 'utf8');
  t.notMatch(html, /(?:src|href)="(?:https?:)?\/\//);
  t.notMatch(html, /<script(?![^>]*\ssrc=)|<style|\son\w+=|style="/);
  t.match(html, '<base href="/" />', 'replaced by the extension');
});

void t.test('the policy allows the inline styles of React Aria', async (t) => {
  const aria = join(ROOT, 'node_modules/react-aria/dist/private');
  const texts = ['interactions/usePress.mjs', 'overlays/usePreventScroll.mjs'].map((file) => {
    const [, text = ''] =
      /style\.textContent = `([^`]*)`\.trim/.exec(readFileSync(join(aria, file), 'utf8')) ?? [];
    return text.trim().replace(/\$\{\S*PRESSABLE_ATTRIBUTE\}/, 'data-react-aria-pressable');
  });
  for (const text of texts) {
    t.match(text, /^@layer/);
    const hash = createHash('sha256').update(text).digest('base64');
    t.ok(SAFETY_HEADERS['content-security-policy']?.includes(`'sha256-${hash}'`), hash);
  }
});

void t.test('every class named in a component is in its stylesheet', async (t) => {
  const missing: string[] = [];
  for (const name of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.tsx')) continue;
    const code = readFileSync(join(SOURCE, name), 'utf8');
    for (const [, local = '', sheet = ''] of code.matchAll(/import (\w+) from '(\.[^']+\.module\.css)'/g)) {
      const css = readFileSync(join(SOURCE, name, '..', sheet), 'utf8');
      for (const [, used = ''] of code.matchAll(new RegExp(`\\b${local}\\['(\\w+)'\\]`, 'g')))
        if (!new RegExp(`\\.${used}\\b`).test(css)) missing.push(`${name}: ${used}`);
    }
  }
  t.same(missing, []);
});

void t.test('generated API types are up to date', async (t) => {
  const script = join(SOURCE, 'api/generate.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--print'], {
    maxBuffer: 1 << 24,
  });
  t.ok(stdout === readFileSync(join(SOURCE, 'api/generated/schema.ts'), 'utf8'), 'npm run generate:api');
});
