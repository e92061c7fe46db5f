import { HostTurns, hostOfUrl } from '../shared/host-turns.js';
import type { NoticeRequest, NotificationChannel } from '../contracts/alerts.js';

/** A due notice, without its texts. */
export interface WaitingNotice {
  readonly number: number;
  readonly user_id: string;
  readonly channel: string;
  readonly webhook_url: string | null;
  readonly due_at: number;
}

/** Number of running notices of a channel for a user, to one URL. */
export interface UnderWay {
  readonly user_id: string;
  readonly channel: string;
  readonly webhook_url: string | null;
  readonly count: number;
}

/** When the first later notice of a user and a channel is due. */
export interface DueLater {
  readonly user_id: string;
  readonly channel: string;
  readonly due_at: number;
}

/**
 * Selects the notices to start: first those of users with the fewest running, and for each user the longest overdue.
 *
 * @param waiting the longest overdue first, for each user and channel as many as may be running
 * @returns their numbers, and when the next one can start
 */
export function takeTurns(
  { free, perUser, perHost }: Pick<NoticeRequest, 'free' | 'perUser' | 'perHost'>,
  waiting: readonly WaitingNotice[],
  underWay: readonly UnderWay[],
  later: readonly DueLater[],
): { readonly taken: readonly number[]; readonly nextDueAt: number | null } {
  const taken: number[] = [];
  let nextDueAt = Infinity;
  const hosts = new HostTurns(perHost);
  for (const { user_id, webhook_url, count } of underWay)
    hosts.add({ host: hostOfUrl(webhook_url), owner: user_id }, count);
  for (const channel of ['email', 'webhook'] as const satisfies readonly NotificationChannel[]) {
    const counts = new Map<string, number>();
    for (const one of underWay)
      if (one.channel === channel) counts.set(one.user_id, (counts.get(one.user_id) ?? 0) + one.count);
    const begun = waiting
      .filter((one) => one.channel === channel)
      .map((notice) => {
        const turn = (counts.get(notice.user_id) ?? 0) + 1;
        counts.set(notice.user_id, turn);
        return { notice, turn, host: hostOfUrl(notice.webhook_url), owner: notice.user_id };
      })
      .filter(({ turn }) => turn <= perUser[channel]);
    const turns = [...hosts.withinRoom(begun)]
      .sort(
        (a, b) => a.turn - b.turn || a.notice.due_at - b.notice.due_at || a.notice.number - b.notice.number,
      )
      .slice(0, Math.max(0, free[channel]));
    taken.push(...turns.map(({ notice }) => notice.number));
    if (turns.length >= free[channel]) continue;
    // Places remain, so every notice that may start does, and the counts include all of them.
    for (const { user_id, due_at, channel: of } of later)
      if (of === channel && (counts.get(user_id) ?? 0) < perUser[channel])
        nextDueAt = Math.min(nextDueAt, due_at);
  }
  return { taken, nextDueAt: nextDueAt === Infinity ? null : nextDueAt };
}
