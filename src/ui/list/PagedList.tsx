import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { useSteady } from '../live/use-steady.js';
import { DataTable } from '../parts/DataTable.js';
import { NewRows, newRows } from '../parts/NewRows.js';
import { Pager } from '../parts/Pager.js';
import { TableSkeleton } from '../parts/Skeleton.js';
import { Empty, Failure } from '../parts/states.js';
import { changeOf, initialOf, integer, text, type Field, type StateOf } from '../state/codec.js';
import { endsOf } from '../state/use-series.js';
import { useUrlState, type Step } from '../state/use-url-state.js';
import { arranged } from './ColumnMenu.js';
import { exportedPages } from './Export.js';
import { FilterBar } from './FilterBar.js';
import type { FilterField } from './filters.js';
import { ListFrame, SelectionBar, type Noun } from './ListFrame.js';

const SHOWN_ROWS = 50;
/** The API allows as many. */
const EXPORTED_ROWS = 100;
/** Fields that select no rows. */
const LOOKS: ReadonlySet<string> = new Set(['page', 'cols', 'sort', 'range']);

/** Fields of every paged list; `q` is a search, `sort` the order. */
export const LIST_STATE = { page: integer(1, 1), cols: text() };
type ListFields = Readonly<Record<string, Field<string | number | boolean>>> &
  typeof LIST_STATE & { readonly range: Field<string> };

/** API parameters of a page. Without a period there are no times. */
export interface PageQuery {
  readonly page: number;
  readonly page_size: number;
  readonly start_time?: string;
  readonly end_time?: string;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly count: number;
  readonly has_more: boolean;
}

type Table<Item> = ComponentProps<typeof DataTable<Item>>;

/**
 * A page with a list that the API serves in pages: search, filters, columns, views, export and paging. Rows keep their places
 * when the query, whose key begins with the name, loads again.
 */
export function PagedList<Of extends ListFields, Item extends object>({
  name,
  title,
  noun: [one, several],
  fields,
  filters,
  isBounded = false,
  search,
  sortable,
  selection,
  columns,
  none,
  load,
  children,
  ...table
}: Pick<Table<Item>, 'columns' | 'keyOf' | 'hrefOf'> & {
  readonly name: string;
  readonly title: string;
  readonly noun: Noun;
  readonly fields: Of;
  readonly filters: Readonly<Record<string, FilterField>>;
  /** Without the option for all time. */
  readonly isBounded?: boolean;
  readonly search?: { readonly label: string; readonly placeholder: string };
  readonly sortable?: readonly string[];
  /** Selected rows, with their actions. */
  readonly selection?: NonNullable<Table<Item>['selection']> & {
    readonly onNone: () => void;
    readonly actions: ReactNode;
  };
  /** Shown for an empty list without filters. */
  readonly none: { readonly title: string; readonly text: string };
  readonly load: (state: StateOf<Of>, pages: PageQuery, signal: AbortSignal) => Promise<Page<Item>>;
  /** Shown below the list. */
  readonly children?: ReactNode;
}) {
  const [state, change] = useUrlState<ListFields>(fields);
  const { range, page, cols, q, sort } = state;
  const put = (values: Readonly<Record<string, string>>, step?: Step): void => {
    change(changeOf<ListFields>(fields, { page: '', ...values }), step);
  };
  const read = (pages: PageQuery, signal: AbortSignal) => load(state as StateOf<Of>, pages, signal);
  const timesOf = (otherwise: object) => (range === 'all' ? otherwise : endsOf(range));
  const identity = JSON.stringify({ ...state, cols: '' });
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: [name, identity],
    queryFn: ({ signal }) => read({ page, page_size: SHOWN_ROWS, ...timesOf({}) }, signal),
    placeholderData: keepPreviousData,
  });
  const list = useSteady(identity, data?.items, isPlaceholderData, table.keyOf);
  /** Later rows do not shift the pages, because all have the same period. */
  async function* allPages(signal: AbortSignal): AsyncGenerator<readonly Item[]> {
    const times = timesOf({ end_time: new Date().toISOString() });
    let isMore = true;
    for (let at = 1; isMore; at += 1) {
      const { items, has_more } = await read({ page: at, page_size: EXPORTED_ROWS, ...times }, signal);
      yield items;
      isMore = has_more;
    }
  }
  const { menu, table: placed } = arranged(columns, cols, (value) => {
    put({ cols: value, page: String(page) }, 'replace');
  });
  const isFiltered =
    (!isBounded && range !== 'all') ||
    Object.entries(fields).some(([field, { initial }]) => !LOOKS.has(field) && state[field] !== initial);
  return (
    <ListFrame
      title={title}
      noun={[one, several]}
      count={data?.count}
      {...(search && {
        search: {
          ...search,
          value: String(q),
          onChange: (value: string) => {
            put({ q: value }, 'replace');
          },
        },
      })}
      columns={menu}
      exported={exportedPages(title.toLowerCase(), allPages)}
      filters={
        <FilterBar
          isBounded={isBounded}
          fields={filters}
          values={state}
          initial={initialOf<ListFields>(fields)}
          range={range}
          onChange={put}
        />
      }
    >
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton />
      ) : data.items.length === 0 ? (
        <Empty title={isFiltered ? `No ${several} match` : none.title}>
          <p>{isFiltered ? 'Remove a filter or widen the time range.' : none.text}</p>
        </Empty>
      ) : (
        <>
          <NewRows
            text={newRows(page === 1 ? list.newKeys.length : 0, one)}
            isMoved={list.isMoved}
            onShow={() => {
              list.renew(data.items);
            }}
          />
          <DataTable
            label={title}
            items={list.items ?? []}
            {...placed}
            {...table}
            {...(selection && { selection })}
            {...(sortable && {
              sort: {
                by: String(sort),
                columns: sortable,
                onChange: (by: string) => {
                  put({ sort: by });
                },
              },
            })}
          />
          {selection && (
            <SelectionBar count={selection.keys.size} onNone={selection.onNone}>
              {selection.actions}
            </SelectionBar>
          )}
          <Pager
            page={page}
            pageSize={SHOWN_ROWS}
            count={data.count}
            hasMore={data.has_more}
            noun={data.count === 1 ? one : several}
            onChange={(next) => {
              put({ page: String(next) });
            }}
          />
        </>
      )}
      {children}
    </ListFrame>
  );
}
