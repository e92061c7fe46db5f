const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/** A link that a browser may be led to: absolute, with a scheme that opens a page or writes a mail. @returns undefined for others */
export function safeLink(href: string): string | undefined {
  let url: URL;
  try {
    // Without a base: what is relative would lead into our own pages.
    url = new URL(href);
  } catch {
    return undefined;
  }
  return SCHEMES.has(url.protocol) ? url.href : undefined;
}
