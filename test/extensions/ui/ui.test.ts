import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { BrowserLogins } from '../../../src/component/browser-logins.js';
import type { Host, ListenerOptions } from '../../../src/component/host.js';
import { checkUiConfig, type UiConfig } from '../../../src/extensions/ui/config.js';
import { PAGE_PATHS } from '../../../src/extensions/ui/file-routes.js';
import { UiExtension } from '../../../src/extensions/ui/ui-extension.js';
import { HandClock } from '../../support/hand-clock.js';
import { ENGINES, send, startListener, type TestListener } from '../../support/http-listener.js';
import { readProjectFile } from '../../support/project-file.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { testFolder } from '../../support/test-folder.js';
import { testHost } from '../../support/test-host.js';

const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2000))});\n`;
const INDEX = `<!doctype html>\n<html><head><base href="/" /><title>Jackdaw</title></head></html>\n`;

/** A build of the pages: an index, a script in three forms, an icon. */
function built(t: Test): string {
  const folder = testFolder(t);
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), INDEX);
  writeFileSync(join(folder, 'index.html.gz'), gzipSync(INDEX));
  writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(folder, 'assets/main-Bx3_k9.js'), SCRIPT);
  writeFileSync(join(folder, 'assets/main-Bx3_k9.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets/main-Bx3_k9.js.gz'), gzipSync(SCRIPT));
  return folder;
}

/** Login is tested with a whole daemon. */
const NO_LOGINS: BrowserLogins = {
  enter: () => Promise.reject(new Error('nobody enters here')),
  leave: async () => null,
  readLink: () => Promise.reject(new Error('there are no links here')),
  sessionsOf: async () => [],
  end: async () => undefined,
  createLink: () => Promise.reject(new Error('nobody is let in here')),
};

async function serve(
  t: Test,
  { folder = built(t), engine, ...config }: Partial<UiConfig> & { folder?: string; engine?: 'uws' | 'node' },
): Promise<TestListener & { readonly logger: RecordingLogger; readonly asked: (string | object)[] }> {
  const started = await startListener(t, engine, []);
  const logger = new RecordingLogger();
  const asked: (string | object)[] = [];
  const host: Host = {
    ...testHost(),
    extension: (_, isWanted) => {
      const api: unknown = { isApi: true, endpoint: '127.0.0.1:0' };
      if (!isWanted(api)) throw new Error('it wants something else than the API');
      return api;
    },
    browserLogins: async () => NO_LOGINS,
    listener: (endpoint: string, options: ListenerOptions = {}) => {
      asked.push(endpoint, options);
      started.listener.configure(options);
      return started.listener;
    },
  };
  const extension = new UiExtension({ api: 'query', endpoint: null, ...config }, folder, {
    clock: new HandClock(),
    logger,
  });
  await extension.start(host);
  return { ...started, logger, asked };
}

void t.test('serves every page of the program', async (t) => {
  const code = readProjectFile('src/ui/page-code.ts');
  const paths = [...code.matchAll(/^ {2}'(\/[^']*)': /gm)].map(([, path = '']) =>
    path.replaceAll(/:\w+/g, '{}'),
  );
  t.ok(paths.length > 20, 'read from the source');
  const served = new Set(PAGE_PATHS.map((path) => path.replaceAll(/\{\w+\}/g, '{}')));
  // `/alerts/new` is a page of its own, and served as `/alerts/{id}`.
  t.same(
    paths.filter((path) => !served.has(path) && path !== '/alerts/new'),
    [],
  );
});

for (const engine of ENGINES) {
  void t.test(`${engine}: serves pages and files with their headers, and 404 otherwise`, async (t) => {
    const { url, asked } = await serve(t, { engine });
    t.strictSame(
      asked.slice(0, 2),
      ['127.0.0.1:0', { hosts: [], isHttps: false }],
      'the endpoint of the API',
    );
    for (const path of PAGE_PATHS) {
      const page = await send(url + path.replace(/\{\w+\}/g, 'a%20b'));
      t.match(page, { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } }, path);
      t.equal(page.body, INDEX);
    }
    for (const path of [
      '/nothing',
      '/agents/a/b',
      '/index.html',
      '/assets',
      '/assets/main-Bx3_k9.js.br',
      '/spans',
    ])
      t.equal((await send(url + path)).status, 404, path);

    const headers = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
    t.match(await send(`${url}/nothing`, { headers }), {
      status: 404,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
      body: INDEX,
    });
    for (const path of ['/api', '/api/v1/nothing'])
      t.match(
        await send(url + path, { headers }),
        { status: 404, headers: { 'content-type': 'application/problem+json' } },
        path,
      );
    t.match(await send(`${url}/nothing`, { headers: { accept: '*/*' } }), {
      status: 404,
      headers: { 'content-type': 'application/problem+json' },
    });

    const page = await send(url);
    t.match(page.headers, {
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy':
        /^default-src 'none'; script-src 'self'; style-src 'self'.*; img-src 'self' data:; media-src data:; connect-src 'self'; worker-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'$/,
    });
    const known = await send(url, { headers: { 'if-none-match': String(page.headers.etag) } });
    t.equal(known.status, 304, 'an unchanged page');
    t.match(await send(`${url}/icon.svg`), {
      status: 200,
      headers: { 'content-type': 'image/svg+xml', 'cache-control': 'no-cache' },
    });
  });

  void t.test(`${engine}: serves the smallest encoding the client accepts`, async (t) => {
    const { url } = await serve(t, { engine });
    const get = (accept?: string) =>
      send(
        `${url}/assets/main-Bx3_k9.js`,
        accept === undefined ? {} : { headers: { 'accept-encoding': accept } },
      );
    const forms = [
      ['br, gzip', 'br', brotliCompressSync(SCRIPT).length],
      ['gzip, deflate, br, zstd', 'br', brotliCompressSync(SCRIPT).length],
      ['gzip', 'gzip', gzipSync(SCRIPT).length],
      ['br;q=0.1, gzip', 'gzip', gzipSync(SCRIPT).length],
      ['identity', undefined, SCRIPT.length],
      [undefined, undefined, SCRIPT.length],
    ] as const;
    for (const [accept, coding, length] of forms) {
      const { status, headers } = await get(accept);
      t.equal(status, 200);
      t.equal(headers['content-encoding'], coding, accept ?? 'none');
      t.equal(Number(headers['content-length']), length);
      t.match(headers, {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
        'content-security-policy': /default-src 'none'/,
      });
    }
  });
}

void t.test('behind a proxy, uses the path as base and accepts the host', async (t) => {
  const { url } = await serve(t, { public_url: 'https://ops.example.com/jackdaw' });
  const page = await send(`${url}/agents/1`, { headers: { host: 'ops.example.com' } });
  t.equal(page.status, 200);
  t.match(page.body, '<base href="/jackdaw/" />');
  t.equal(page.headers['strict-transport-security'], 'max-age=31536000');
  t.equal((await send(url, { headers: { host: 'other.example.com' } })).status, 421);
});

void t.test('can use a separate endpoint', async (t) => {
  const { asked } = await serve(t, { endpoint: '127.0.0.1:5000', base_path: '/x/' });
  t.equal(asked[0], '127.0.0.1:5000');
});

void t.test('without built pages, logs this once and serves none', async (t) => {
  const { url, logger } = await serve(t, { folder: join(testFolder(t), 'gone') });
  t.equal((await send(url)).status, 404);
  t.match(logger.lines, [/The web pages were not built/]);
  t.equal(logger.lines.length, 1);
});

void t.test('rejects an unusable build and says what to do', async (t) => {
  const folder = testFolder(t);
  writeFileSync(join(folder, 'index.html'), '<html></html>');
  await t.rejects(serve(t, { folder }), /no <base href="\/">: rebuild the pages/);
  writeFileSync(join(folder, 'a b.js'), '');
  await t.rejects(serve(t, { folder }), /a b\.js has a name that is not valid in a URL/);
});

void t.test('the path of public_url is the only base path', async (t) => {
  const check = (config: Partial<UiConfig>) => checkUiConfig({ api: 'query', endpoint: null, ...config });
  t.strictSame(check({ base_path: '/x/' }), []);
  t.strictSame(check({ public_url: 'https://a.example/x', base_path: '/x/' }), []);
  t.match(check({ public_url: 'https://a.example/x', base_path: '/y/' }), [
    { path: '/base_path', message: /\/x\// },
  ]);
  t.match(check({ public_url: 'https://a:99999999' }), [{ path: '/public_url' }]);
});
