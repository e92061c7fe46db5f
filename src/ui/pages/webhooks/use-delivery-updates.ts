import { useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Schemas } from '../../api/client.js';
import { useStream } from '../../live/use-stream.js';

type Page = Schemas['ListedDeliveryPage'];
type DeliveryEvent = Schemas['ListedDelivery'] & { readonly org_slug: string };

const EVENTS = ['delivery', 'lost', 'open'];
/** Minimum time between reloads of lists and totals. */
const EVERY_MS = 1000;

/**
 * Applies delivery events: visible rows update in place, dependent queries reload.
 *
 * @returns whether the stream is connected
 */
export function useDeliveryUpdates(org: string): boolean {
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
        // A list with several pages does not move.
        predicate: ({ state }) => ((state.data as InfiniteData<Page> | undefined)?.pages.length ?? 0) <= 1,
      },
      { cancelRefetch: false },
    );
  };
  return useStream(
    'deliveries',
    () => 'deliveries',
    EVENTS,
    (event, data) => {
      if (event === 'delivery') {
        const { org_slug, ...delivery } = data as unknown as DeliveryEvent;
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
