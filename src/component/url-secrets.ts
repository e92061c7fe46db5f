const SECRET = '[secret]';
const URLS = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\\]*/gi;
const USER_INFO = /^([^:]+:\/\/)[^/?#]*@/;
/** `user:password@` without a scheme. */
const BARE_USER_INFO = /(?<![^\s"'])[^\s/?#@:"']+:[^\s/?#@"']+@/g;
/** Names of parameters whose values are secrets. */
const KEY_NAMES = /auth|code|cred|key|pass|pwd|secret|sig|token/i;

/** Replaces user names, passwords and values of parameters in all URLs of a text. */
export function maskUrls(text: string): string {
  if (!text.includes('://')) return text;
  return text.replace(URLS, (url) => {
    const start = url.indexOf('?');
    const end = start < 0 ? url.length : start;
    const query = url
      .slice(end)
      .replace(/([?&;])([^=&;#]*)(=?)([^&;#]*)/g, (whole, before: string, name: string, equals, value) => {
        if (equals === '') return name === '' ? whole : before + SECRET;
        return value === '' ? whole : `${before}${name}=${SECRET}`;
      });
    return url.slice(0, end).replace(USER_INFO, `$1${SECRET}@`) + query;
  });
}

/** The same for a text that should be a URL or an address, possibly without a scheme. */
export function maskAddress(text: string): string {
  return maskUrls(text).replace(BARE_USER_INFO, `${SECRET}@`);
}

/** The passwords and keys in the URLs of a text, as they are written and decoded. */
export function secretsInUrls(text: string): readonly string[] {
  return [...text.matchAll(URLS)].flatMap(([url]) => {
    if (!URL.canParse(url)) return [];
    const { password, searchParams } = new URL(url);
    const keys = [...searchParams].filter(([name]) => KEY_NAMES.test(name)).map(([, value]) => value);
    const written = [password, ...keys, ...keys.map(encodeURIComponent), decoded(password)];
    return [...new Set(written)].filter((one) => one !== '');
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
