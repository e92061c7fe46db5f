import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { exportedPages, PAGE_ROWS, type Exported } from './Export.js';

export const PAGE_SIZE = 50;

/** API parameters of a page. */
export interface PageQuery {
  readonly page: number;
  readonly page_size: number;
}

interface Page {
  readonly items: readonly object[];
  readonly has_more: boolean;
}

/**
 * Loads a page of a list and keeps the previous one meanwhile.
 *
 * @param name first part of the query key, and of the name of exported files
 * @param filters what identifies the list, apart from the page
 * @returns the query, and an export of all pages
 */
export function usePages<Data extends Page>(
  name: string,
  filters: object,
  page: number,
  load: (query: PageQuery, signal?: AbortSignal) => Promise<Data>,
) {
  const answer = useQuery({
    queryKey: [name, filters, page],
    queryFn: ({ signal }) => load({ page, page_size: PAGE_SIZE }, signal),
    placeholderData: keepPreviousData,
  });
  const exported: Exported = exportedPages(name, (each) => load({ page: each, page_size: PAGE_ROWS }));
  return { ...answer, exported };
}
