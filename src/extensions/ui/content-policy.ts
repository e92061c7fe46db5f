/** Hashes of `<style>` texts that libraries of the pages put into the document, as `sha256-…`. Other inline styles are refused. */
const STYLE_HASHES: readonly string[] = [
  // React Aria: usePress, usePreventScroll.
  'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o=',
  'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg=',
];

/**
 * What pages may load and where they may send: only their own origin. Telemetry is hostile, so an image or a style that it smuggled
 * into a page must not be able to carry data away.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  ["style-src 'self'", ...STYLE_HASHES.map((hash) => `'${hash}'`)].join(' '),
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every file: a worker goes by the policy of its own script. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
