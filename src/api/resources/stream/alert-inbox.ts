import type { Identity } from '../../../component/identity.js';
import type { AlertRule } from '../../../storage/contracts/alerts.js';
import { serializeAlert } from '../alerts/alert-schema.js';
import type { AlertFeed } from './alert-feed.js';
import type { Inbox } from './inbox.js';
import { lostEvent, sseEvent } from './sse.js';

const MOST_ALERTS = 1000;

/** Current states of a user's changed alerts. @returns a function that opens the inbox */
export function alertInbox(feed: AlertFeed, { userId, scopes }: Identity): (wake: () => void) => Inbox {
  return (wake) => {
    let rules = new Map<string, AlertRule>();
    let lost = 0;
    const leave = feed.enter(userId, (rule) => {
      if (rules.size < MOST_ALERTS || rules.has(rule.alert.id)) rules.set(rule.alert.id, rule);
      else lost += 1;
      wake();
    });
    return {
      take: () => {
        const events = [...rules.values()].map((rule) =>
          sseEvent('alert', JSON.stringify(serializeAlert(rule, scopes))),
        );
        if (lost > 0) events.push(lostEvent('alerts', lost));
        rules = new Map();
        lost = 0;
        return events;
      },
      close: leave,
    };
  };
}
