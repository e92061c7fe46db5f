import { Type, type TSchema } from 'typebox';
import { count } from './fields.js';

/** Query parameters of a list in pages; out of range they are clamped. */
export const pageParameters = {
  page: Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000,
    default: 1,
    description: 'Page, from 1; clamped.',
  }),
  page_size: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items a page; clamped.' }),
};

export interface PageRequest {
  readonly page: number;
  readonly page_size: number;
}

/** The body of a list in pages. @param title the name of its schema in `openapi.json` */
export function pageSchema<Item extends TSchema>(item: Item, title: string) {
  return Type.Object(
    {
      items: Type.Array(item),
      count: count('All that match, on any page.'),
      page: Type.Integer({ minimum: 1 }),
      page_size: Type.Integer({ minimum: 1, maximum: 100 }),
      has_more: Type.Boolean({ description: 'Whether more pages follow.' }),
    },
    { title },
  );
}

/** The part of the list that the store is to read. */
export function pageRange({ page, page_size }: PageRequest): {
  readonly offset: number;
  readonly limit: number;
} {
  return { offset: (page - 1) * page_size, limit: page_size };
}

export function printPage<Item>(items: Item[], total: number, request: PageRequest) {
  const { offset } = pageRange(request);
  const { page, page_size } = request;
  return { items, count: total, page, page_size, has_more: offset + items.length < total };
}
