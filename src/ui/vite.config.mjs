import react from '@vitejs/plugin-react';
import { basename, resolve } from 'node:path';

/** Code that some pages need and most do not, by folder: it is in none of the chunks that every page loads. */
const OF_FEW =
  /\/(uplot|marked|diff|@xyflow|d3-[a-z]+|dagre|zustand|classcat|react-virtual|virtual-core)\/|\/ui\/(charts|graph|json|messages|pages|trace)\//;
/** Small things from these folders that most pages need all the same. */
const OF_MANY =
  /\/ui\/(charts\/buckets|json\/parse|pages\/(alerts|webhooks)\/labels|pages\/models\/model-figures)\.ts$|(?<!@xyflow.*)\.css$/;
const isOfAll = (id) => OF_MANY.test(id) || !OF_FEW.test(id);

/**
 * A browser has six connections to a daemon, so that a page comes in few files: what all need, what several need by what it is for, and
 * the page itself. Without this there is a file for each set of pages that share something, some ninety.
 */
const groups = [
  // Nothing but what the first script needs, so that it runs at once.
  {
    name: 'start',
    test: /\/ui\/(start|page-code|api\/base|charts\/language|state\/path)\.ts$|vite\/preload-helper/,
  },
  { name: 'libraries', test: (id) => /\/node_modules\/.*js$/.test(id) && isOfAll(id), minShareCount: 2 },
  { name: 'common', test: isOfAll, minShareCount: 2 },
  { name: 'charts', test: /\/uplot\/|\/ui\/charts\//, minShareCount: 3 },
  {
    name: 'rows',
    test: /\/(react-virtual|virtual-core)\/|\/ui\/(json|messages\/LongText)/,
    minShareCount: 2,
  },
  { name: 'agents', test: /\/ui\/pages\/(agents|models)\//, minShareCount: 2 },
  { name: 'alerts', test: /\/ui\/pages\/alerts\//, minShareCount: 3 },
].map((group, at, all) => ({ ...group, priority: all.length - at }));

/** The page asks at once for what the first script will ask for in any case. */
const earlyMain = {
  name: 'early-main',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle = {} }) => {
      const chunks = new Set(
        Object.values(bundle).filter(({ name, isDynamicEntry }) => isDynamicEntry && name === 'main'),
      );
      for (const { imports } of chunks) for (const name of imports) chunks.add(bundle[name]);
      // Styles of what is imported come before those of who imports it, as they do in the code.
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

/** How the browser's code is bundled, by `build.mjs`, and served while one works on it, by `npm run dev:ui`. */
export default {
  root: import.meta.dirname,
  // Paths in index.html are relative to its <base>, so that the pages work under any prefix.
  base: '',
  publicDir: false,
  cacheDir: resolve(import.meta.dirname, '../../.cache/vite'),
  plugins: [react(), earlyMain],
  build: {
    // light-dark() has to stay: older browsers than these are not served.
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
