import { Type, type TSchema } from 'typebox';
import { count } from './fields.js';

const PAGE = { minimum: 1, maximum: 1_000_000_000, description: 'Page, from 1; clamped.' };
const PAGE_SIZE = { minimum: 1, maximum: 100, description: 'Items per page; clamped.' };
const FIRST: PageRequest = { page: 1, page_size: 20 };

/** Query parameters of a list in pages; values out of range are clamped. */
export const pageParameters = {
  page: Type.Integer({ ...PAGE, default: FIRST.page }),
  page_size: Type.Integer({ ...PAGE_SIZE, default: FIRST.page_size }),
};

/** Paging parameters without defaults, for a list that is paged only on request. */
export const optionalPageParameters = {
  page: Type.Optional(Type.Integer({ ...PAGE, description: `${PAGE.description} Default: ${FIRST.page}.` })),
  page_size: Type.Optional(
    Type.Integer({
      ...PAGE_SIZE,
      description: `${PAGE_SIZE.description} Default: ${FIRST.page_size}.`,
    }),
  ),
};

/** Applies the defaults to {@link optionalPageParameters}. */
export function pageRequest({
  page = FIRST.page,
  page_size = FIRST.page_size,
}: {
  readonly page: number | undefined;
  readonly page_size: number | undefined;
}): PageRequest {
  return { page, page_size };
}

export interface PageRequest {
  readonly page: number;
  readonly page_size: number;
}

/** The body of a list in pages. @param title the name of its schema in `openapi.json` */
export function pageSchema<Item extends TSchema>(item: Item, title: string) {
  return Type.Object(
    {
      items: Type.Array(item),
      count: count('Number of matches on all pages.'),
      page: Type.Integer({ minimum: 1 }),
      page_size: Type.Integer({ minimum: 1, maximum: 100 }),
      has_more: Type.Boolean({ description: 'Whether there are more pages.' }),
    },
    { title },
  );
}

/** The part of the list to read. */
export function pageRange({ page, page_size }: PageRequest): {
  readonly offset: number;
  readonly limit: number;
} {
  return { offset: (page - 1) * page_size, limit: page_size };
}

export function serializePage<Item>(items: Item[], total: number, request: PageRequest) {
  return { items, ...pageStats(items.length, total, request) };
}

/** Paging fields of a page. @param shown number of items on the page */
export function pageStats(shown: number, total: number, request: PageRequest) {
  const { offset } = pageRange(request);
  const { page, page_size } = request;
  return { count: total, page, page_size, has_more: offset + shown < total };
}
