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
