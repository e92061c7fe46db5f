import { BASE } from '../api/base.js';
import { rawPath } from './path.js';
import { rangeOfPage } from './range.js';

let carried: string | null = null;

/**
 * Adds the time range to a link to a page that has one, unless the link names it: the range that the user
 * selected. A link to filtered rows of another page also gets the default range of its own page, so that it
 * leads to the rows that are counted there.
 */
export function withRange(to: string): string {
  const here = rawPath();
  const own = rangeOfPage(here);
  if (own !== undefined) carried = new URLSearchParams(location.search).get('range');
  const [path = '', query = ''] = to.split('?', 2);
  const there = path.slice(BASE.pathname.length - 1);
  const params = new URLSearchParams(query);
  const range = carried ?? (query === '' || there === here ? undefined : own);
  if (range === undefined || rangeOfPage(there) === undefined || params.has('range')) return to;
  params.set('range', range);
  return `${path}?${params.toString()}`;
}
