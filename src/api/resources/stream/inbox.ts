import { lostEvent, sseEvent } from './sse.js';

/** Bounded queue of a topic's events that the client has not taken yet. */
export interface Inbox {
  /** Removes and returns the events to send now. */
  take(): readonly Uint8Array[];
  close(): void;
}

/** Objects of which a stream sends the newest state. */
export interface NewestOf<Item> {
  /** Name of its events. */
  readonly event: string;
  /** Topic of its `lost` events. */
  readonly topic: string;
  /** Maximum number of changed objects that wait for the client. */
  readonly most: number;
  keyOf(item: Item): string;
  serialize(item: Item): object;
  /** @param lose reports dropped changes whose owners are unknown @returns a function that ends it */
  enter(notify: (item: Item) => void, lose: (count: number) => void): () => void;
}

/** The newest states of changed objects. @returns a function that opens the inbox */
export function newestInbox<Item>({
  event,
  topic,
  most,
  keyOf,
  serialize,
  enter,
}: NewestOf<Item>): (wake: () => void) => Inbox {
  return (wake) => {
    let changed = new Map<string, Item>();
    let lost = 0;
    const close = enter(
      (item) => {
        const key = keyOf(item);
        if (changed.size < most || changed.has(key)) changed.set(key, item);
        else lost += 1;
        wake();
      },
      (count) => {
        lost += count;
        wake();
      },
    );
    return {
      take: () => {
        const events = [...changed.values()].map((item) => sseEvent(event, JSON.stringify(serialize(item))));
        if (lost > 0) events.push(lostEvent(topic, lost));
        changed = new Map();
        lost = 0;
        return events;
      },
      close,
    };
  };
}
