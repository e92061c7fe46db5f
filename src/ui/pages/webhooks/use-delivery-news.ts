import { useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Schemas } from '../../api/client.js';
import { useStream } from '../../live/use-stream.js';

type Page = Schemas['ListedDeliveryPage'];
type Told = Schemas['ListedDelivery'] & { readonly org_slug: string };

const TOLD = ['delivery', 'lost', 'open'];
/** Lists and figures are asked for again at most so often. */
const EVERY_MS = 1000;

/**
 * Follows what becomes of an organization's deliveries: rows that are shown take it at once, and what else depends on it is asked for
 * again. @returns whether that is told
 */
export function useDeliveryNews(org: string): boolean {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [org],
  );
  const ask = (): void => {
    timer.current = undefined;
    void client.invalidateQueries({ queryKey: ['endpoints', org] }, { cancelRefetch: false });
    void client.invalidateQueries(
      {
        queryKey: ['deliveries', org],
        // Of a list that was gone on with, nothing moves.
        predicate: ({ state }) => ((state.data as InfiniteData<Page> | undefined)?.pages.length ?? 0) <= 1,
      },
      { cancelRefetch: false },
    );
  };
  return useStream(
    'deliveries',
    () => 'deliveries',
    TOLD,
    (event, data) => {
      if (event === 'delivery') {
        const { org_slug, ...delivery } = data as unknown as Told;
        if (org_slug !== org) return;
        client.setQueriesData<InfiniteData<Page>>(
          { queryKey: ['deliveries', org] },
          (list) => list && withDelivery(list, delivery),
        );
        void client.invalidateQueries({ queryKey: ['delivery', org, delivery.id] });
      }
      timer.current ??= setTimeout(ask, EVERY_MS);
    },
  );
}

function withDelivery(list: InfiniteData<Page>, delivery: Schemas['ListedDelivery']): InfiniteData<Page> {
  const pages = list.pages.map((page) => {
    const isOn = page.items.some(({ id }) => id === delivery.id);
    if (!isOn) return page;
    return { ...page, items: page.items.map((item) => (item.id === delivery.id ? delivery : item)) };
  });
  return pages.some((page, at) => page !== list.pages[at]) ? { ...list, pages } : list;
}
