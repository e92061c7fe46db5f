import react from '@vitejs/plugin-react';
import { resolve } from 'node:path';

/** How the browser's code is bundled, by `build.mjs`, and served while one works on it, by `npm run dev:ui`. */
export default {
  root: import.meta.dirname,
  // Paths in index.html are relative to its <base>, so that the pages work under any prefix.
  base: '',
  publicDir: false,
  cacheDir: resolve(import.meta.dirname, '../../.cache/vite'),
  plugins: [react()],
  build: {
    // light-dark() has to stay: older browsers than these are not served.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': { target: process.env.JACKDAW_URL ?? 'http://127.0.0.1:4319', changeOrigin: true } },
  },
};
