import type { ChangedDelivery } from '../../../storage/delivery-queue.js';
import { printChanged } from '../webhooks/organization-deliveries.js';
import type { DeliveryNews } from './delivery-news.js';
import type { Inbox } from './inbox.js';
import { lostEvent, sseEvent } from './sse.js';

const MOST_DELIVERIES = 500;

/** Deliveries of a user's organizations that changed, each as it is now. @returns opens it */
export function deliveryInbox(news: DeliveryNews, userId: string): (wake: () => void) => Inbox {
  return (wake) => {
    let changed = new Map<string, ChangedDelivery>();
    let lost = 0;
    const leave = news.enter({
      userId,
      tell: (delivery) => {
        if (changed.size < MOST_DELIVERIES || changed.has(delivery.id)) changed.set(delivery.id, delivery);
        else lost += 1;
        wake();
      },
      lose: (count) => {
        lost += count;
        wake();
      },
    });
    return {
      take: () => {
        const events = [...changed.values()].map((delivery) =>
          sseEvent('delivery', JSON.stringify(printChanged(delivery))),
        );
        if (lost > 0) events.push(lostEvent('deliveries', lost));
        changed = new Map();
        lost = 0;
        return events;
      },
      close: leave,
    };
  };
}
