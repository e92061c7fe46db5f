const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/** An absolute link with a safe scheme. @returns undefined for other links */
export function safeLink(href: string): string | undefined {
  let url: URL;
  try {
    // Without a base, so that relative links are rejected.
    url = new URL(href);
  } catch {
    return undefined;
  }
  return SCHEMES.has(url.protocol) ? url.href : undefined;
}
