import type { DueNotification, NotificationChannel } from '../../storage/alert-store.js';

/** Notices under way at once to one user: one whose receiver hangs holds up no others. */
const PER_USER = 4;

/** How many notices of each channel may be under way at once. */
export type ChannelPlaces = Readonly<Record<NotificationChannel, number>>;

/**
 * Which of the notices that are due can begin, in their order.
 *
 * @param underWay have their places already
 */
export function pick(
  due: readonly DueNotification[],
  underWay: readonly DueNotification[],
  limit: number,
  places: ChannelPlaces,
): readonly DueNotification[] {
  const counts = new Map<string, number>();
  const count = (key: string): number => counts.get(key) ?? 0;
  const enter = ({ userId, channel }: DueNotification): void => {
    for (const key of [userId, channel]) counts.set(key, count(key) + 1);
  };
  for (const notice of underWay) enter(notice);
  const picked: DueNotification[] = [];
  for (const notice of due) {
    if (picked.length === limit) break;
    if (count(notice.userId) >= PER_USER || count(notice.channel) >= places[notice.channel]) continue;
    enter(notice);
    picked.push(notice);
  }
  return picked;
}
