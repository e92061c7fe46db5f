import type { HttpRequest, HttpResponse, Route, UnknownPath } from '../../component/http.js';
import { preferredCoding } from '../../http/compression.js';
import { entityTag } from '../../http/entity-tag.js';
import type { BuiltFile } from './built-files.js';

export const INDEX = 'index.html';
/** Names in this folder contain a hash of the content, so the content of a name never changes. */
const HASHED = 'assets/';
const IMMUTABLE = 'public, max-age=31536000, immutable';
const REVALIDATED = 'no-cache';
const BASE = /<base href="[^"]*"\s*\/?>/;

/**
 * An exact route for each file and each page; unknown paths get 404.
 *
 * @param base path of the pages in browsers; begins and ends with a slash
 * @throws Error if `index.html` has no `<base href="/">`
 */
export function fileRoutes(files: readonly BuiltFile[], base: string): readonly Route[] {
  return files.flatMap((file) => (file.name === INDEX ? pageRoutes(file, base) : [fileRoute(file)]));
}

function fileRoute(file: BuiltFile): Route {
  const caching = file.name.startsWith(HASHED) ? IMMUTABLE : REVALIDATED;
  return {
    method: 'GET',
    path: `/${file.name}`,
    label: 'ui file',
    isPublic: true,
    handle: (request) => answer(file, caching, request),
  };
}

function answer({ forms, contentType }: BuiltFile, caching: string, request: HttpRequest): HttpResponse {
  const packed = forms.flatMap(({ coding: name, ...form }) => (name === undefined ? [] : { name, ...form }));
  const chosen = preferredCoding(request.header('accept-encoding'), packed) ?? forms.at(-1);
  if (chosen === undefined) throw new Error('a file has at least its plain form');
  const coding = 'name' in chosen ? chosen.name : undefined;
  return {
    status: 200,
    headers: {
      ...SAFETY_HEADERS,
      'content-type': contentType,
      'cache-control': caching,
      etag: chosen.tag,
      // For the plain form, the listener sets this header if it may still compress the file.
      ...(coding === undefined ? {} : { 'content-encoding': coding, vary: 'Accept-Encoding' }),
    },
    body: chosen.body,
  };
}

/**
 * The not-found page, with status 404, for browsers. Clients that do not accept HTML, and paths below `/api`, get the problem
 * response.
 *
 * @param base as for `fileRoutes`
 */
export function notFoundPage(files: readonly BuiltFile[], base: string): UnknownPath {
  const index = files.find(({ name }) => name === INDEX);
  if (!index) return () => undefined;
  const page = pageOf(index, base);
  return (request) =>
    !/^\/api(\/|$)/.test(request.path) && request.header('accept')?.includes('text/html') === true
      ? { ...page, status: 404, headers: { ...page.headers, 'cache-control': 'no-store' } }
      : undefined;
}

function pageRoutes(index: BuiltFile, base: string): readonly Route[] {
  const page = pageOf(index, base);
  return PAGE_PATHS.map((path) => ({
    method: 'GET',
    path,
    label: 'ui page',
    isPublic: true,
    handle: () => page,
  }));
}

function pageOf(index: BuiltFile, base: string): HttpResponse {
  const text = Buffer.from(index.forms.at(-1)?.body ?? []).toString('utf8');
  if (!BASE.test(text))
    throw new Error('index.html of the web pages has no <base href="/">: rebuild the pages');
  const body = Buffer.from(
    text.replace(BASE, () => `<base href="${escape(base)}" />`),
    'utf8',
  );
  return {
    status: 200,
    headers: {
      ...SAFETY_HEADERS,
      'content-type': index.contentType,
      'cache-control': REVALIDATED,
      etag: entityTag(body),
    },
    body,
  };
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** Hashes of `<style>` texts that libraries insert into pages, as `sha256-…`. Other inline styles are refused. */
const STYLE_HASHES: readonly string[] = [
  // React Aria: usePress, usePreventScroll.
  'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o=',
  'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg=',
];

/**
 * Pages may load from and send to their own origin only. Telemetry is hostile: an image or a style injected by it must not
 * exfiltrate data.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  ["style-src 'self'", ...STYLE_HASHES.map((hash) => `'${hash}'`)].join(' '),
  "img-src 'self' data:",
  'media-src data:',
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every file, because a worker uses the policy of its own script. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Paths of pages. All serve `index.html`, whose program reads the path. `/metrics` is not included: Prometheus reads the daemon's
 * own metrics there, possibly on the same listener.
 */
export const PAGE_PATHS = [
  '/',
  '/login',
  '/agents',
  '/agents/{id}',
  '/runs',
  '/traces',
  '/traces/{id}',
  '/sessions',
  '/sessions/{id}',
  '/users',
  '/compare/agents',
  '/compare/runs',
  '/map',
  '/prompts',
  '/prompts/{name}',
  '/models',
  '/tools',
  // Not `/metrics`, which Prometheus reads.
  '/explore/metrics',
  '/logs',
  '/alerts',
  '/alerts/{id}',
  '/webhooks',
  '/webhooks/{org}',
  '/usage',
  '/settings',
  '/settings/{page}',
  '/daemon',
] as const;
