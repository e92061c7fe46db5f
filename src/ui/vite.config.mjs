import react from '@vitejs/plugin-react';
import { basename, resolve } from 'node:path';

/** Code that only some pages need, by folder. It is in none of the chunks that every page loads. */
const SOME_PAGES =
  /\/(uplot|marked|diff|@xyflow|d3-[a-z]+|dagre|zustand|classcat|react-virtual|virtual-core)\/|\/ui\/(charts|graph|json|messages|pages|trace)\//;
/** Small files of these folders that most pages need. */
const MOST_PAGES =
  /\/ui\/(charts\/buckets|json\/parse|pages\/(alerts|webhooks)\/labels|pages\/logs\/logs-state|pages\/models\/model-figures)\.ts$|(?<!@xyflow.*)\.css$/;
const isForAllPages = (id) => MOST_PAGES.test(id) || !SOME_PAGES.test(id);

/**
 * A browser opens six connections to a daemon, so a page should load few files: code for all pages, code shared by several pages, by
 * purpose, and the page itself. Without these groups there are about ninety files, one for each set of pages that share code.
 */
const groups = [
  // Only what the first script needs, so that it runs immediately.
  {
    name: 'start',
    test: /\/ui\/(start|page-code|api\/base|state\/path)\.ts$|vite\/preload-helper/,
  },
  {
    name: 'libraries',
    test: (id) => /\/node_modules\/.*js$/.test(id) && isForAllPages(id),
    minShareCount: 2,
  },
  { name: 'common', test: isForAllPages, minShareCount: 2 },
  { name: 'charts', test: /\/uplot\/|\/ui\/charts\//, minShareCount: 3 },
  {
    name: 'rows',
    test: /\/(react-virtual|virtual-core)\/|\/ui\/(json|messages\/LongText)/,
    minShareCount: 2,
  },
  { name: 'agents', test: /\/ui\/pages\/(agents|models)\//, minShareCount: 2 },
  { name: 'alerts', test: /\/ui\/pages\/alerts\//, minShareCount: 3 },
].map((group, at, all) => ({ ...group, priority: all.length - at }));

/** Preloads the files that the first script always imports. */
const earlyMain = {
  name: 'early-main',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle = {} }) => {
      const chunks = new Set(
        Object.values(bundle).filter(({ name, isDynamicEntry }) => isDynamicEntry && name === 'main'),
      );
      for (const { imports } of chunks) for (const name of imports) chunks.add(bundle[name]);
      // An imported module's styles come before those of the importing module, as in the code.
      const links = [...chunks]
        .reverse()
        .flatMap(({ fileName, viteMetadata }) => [
          { rel: 'modulepreload', href: fileName },
          ...[...viteMetadata.importedCss].map((href) => ({ rel: 'stylesheet', href })),
        ]);
      return links
        .filter(({ href }) => !html.includes(basename(href)))
        .map(({ rel, href }) => ({
          tag: 'link',
          attrs: { rel, crossorigin: true, href: `./${href}` },
          injectTo: 'head',
        }));
    },
  },
};

/** Bundles the browser's code for `build.mjs`, and serves it during development (`npm run dev:ui`). */
export default {
  root: import.meta.dirname,
  // Paths in index.html are relative to its <base>, so that the pages work under any prefix.
  base: '',
  publicDir: false,
  cacheDir: resolve(import.meta.dirname, '../../.cache/vite'),
  plugins: [react(), earlyMain],
  build: {
    // The minimum versions for light-dark(), which must not be compiled away.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': { target: process.env.JACKDAW_URL ?? 'http://127.0.0.1:4319', changeOrigin: true } },
  },
};
