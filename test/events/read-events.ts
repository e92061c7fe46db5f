import type {
  EventCursor,
  EventPage,
  EventPageLimit,
  EventStore,
  StoredEvent,
} from '../../src/storage/event-store.js';

/** All pages behind a cursor. */
export async function readAll(
  store: Pick<EventStore, 'readEvents'>,
  after: EventCursor,
  limit: EventPageLimit,
): Promise<EventPage[]> {
  const pages: EventPage[] = [];
  let page: EventPage;
  do {
    page = await store.readEvents(pages.at(-1)?.cursor ?? after, limit);
    pages.push(page);
  } while (page.hasMore);
  return pages;
}

/** The ids of events, in each of the two orders that a store keeps. */
export interface Orders {
  readonly telemetry: readonly string[];
  readonly others: readonly string[];
}

export function wholeOrder(pages: readonly { readonly events: readonly StoredEvent[] }[]): Orders {
  const events = pages.flatMap((page) => page.events.map(({ event }) => event));
  const isTelemetry = ({ type }: { readonly type: string }): boolean =>
    type.startsWith('trace.') || type.startsWith('agent.');
  const ids = (some: typeof events): string[] => some.map(({ id }) => id);
  return {
    telemetry: ids(events.filter(isTelemetry)),
    others: ids(events.filter((event) => !isTelemetry(event))),
  };
}
