import type { NoticeRequest, NotificationChannel } from '../notices.js';

/** A notice that is due, without its texts. */
export interface WaitingNotice {
  readonly number: number;
  readonly user_id: string;
  readonly channel: string;
  readonly due_at: number;
}

/** How many notices of a channel are running for a user. */
export interface UnderWay {
  readonly user_id: string;
  readonly channel: string;
  readonly count: number;
}

/** When the first notice of a user and a channel is due later. */
export interface DueLater {
  readonly user_id: string;
  readonly channel: string;
  readonly due_at: number;
}

/**
 * Which notices begin: first those of the user with the fewest running, and for each user the longest overdue.
 *
 * @param waiting the longest overdue first, for each user and channel as many as may be running
 * @returns their numbers, and when the next one can begin
 */
export function takeTurns(
  { free, perUser }: Pick<NoticeRequest, 'free' | 'perUser'>,
  waiting: readonly WaitingNotice[],
  underWay: readonly UnderWay[],
  later: readonly DueLater[],
): { readonly taken: readonly number[]; readonly nextDueAt: number | null } {
  const taken: number[] = [];
  let nextDueAt = Infinity;
  for (const channel of ['email', 'webhook'] as const satisfies readonly NotificationChannel[]) {
    const counts = new Map(
      underWay.filter((one) => one.channel === channel).map(({ user_id, count }) => [user_id, count]),
    );
    const turns = waiting
      .filter((one) => one.channel === channel)
      .map((notice) => {
        const turn = (counts.get(notice.user_id) ?? 0) + 1;
        counts.set(notice.user_id, turn);
        return { notice, turn };
      })
      .filter(({ turn }) => turn <= perUser[channel])
      .sort(
        (a, b) => a.turn - b.turn || a.notice.due_at - b.notice.due_at || a.notice.number - b.notice.number,
      )
      .slice(0, Math.max(0, free[channel]));
    taken.push(...turns.map(({ notice }) => notice.number));
    if (turns.length >= free[channel]) continue;
    // Some places are left, so everything that waits and may begin does, and the counts then say how many are running.
    for (const { user_id, due_at, channel: of } of later)
      if (of === channel && (counts.get(user_id) ?? 0) < perUser[channel])
        nextDueAt = Math.min(nextDueAt, due_at);
  }
  return { taken, nextDueAt: nextDueAt === Infinity ? null : nextDueAt };
}
