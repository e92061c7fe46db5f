import { BASE } from '../api/client.js';

/** The path of the page as the address has it: the router's own has lost what `%` stood for. */
export function rawPath(): string {
  return location.pathname.slice(BASE.pathname.length - 1);
}

/** The last part of the path as it was before it was encoded, which may hold `/` and `%`; one that cannot be read stays. */
export function lastPart(): string {
  const part = rawPath().split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
