import { BASE } from '../api/base.js';
import { rawPath } from './path.js';

/** Pages with a time range in their URL. */
const RANGED =
  /^\/(?:runs|sessions|users|tools|models|map|logs|agents(?:\/[^/]+)?|explore\/metrics|compare\/agents)?$/;

let carried: string | null = null;

/** Adds the selected time range to a link, if the page has one and the link names none. */
export function withRange(to: string): string {
  if (RANGED.test(rawPath())) carried = new URLSearchParams(location.search).get('range');
  const [path = '', query = ''] = to.split('?', 2);
  const params = new URLSearchParams(query);
  const isRanged = RANGED.test(path.slice(BASE.pathname.length - 1));
  if (carried === null || !isRanged || params.has('range')) return to;
  params.set('range', carried);
  return `${path}?${params.toString()}`;
}
