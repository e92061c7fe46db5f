import type { Micros } from '../../../signal/time.js';
import type {
  DueRequest,
  HeldNotification,
  NotificationChannel,
  NotificationPlaces,
} from '../../alert-notices.js';
import type { Row, Value } from '../connection.js';
import { listOf } from './delivery-rows.js';

/** Which notices begin, and when the next one can. */
export interface NoticeTurns {
  /** Their numbers. */
  readonly taken: readonly number[];
  readonly nextDueAt: Micros | null;
}

/**
 * Who is next, one row for each notice that begins and one of each channel for the first that is due later. Only those count for which
 * their users have places; users take turns, so that none holds up another. It reads nothing but narrow columns.
 *
 * @returns a statement and its parameters, for {@link toTurns}
 */
export function noticeTurns(request: DueRequest): [sql: string, values: Value[]] {
  const { now, held, places } = request;
  const perUser = byChannel(({ perUser }) => perUser, places);
  const free = byChannel((_, channel) => freePlaces(request, channel), places);
  const sql = `WITH held AS (
      SELECT user_id::UUID AS user_id, channel, count(*) AS places FROM (VALUES ${['(NULL, NULL)', ...held.map(() => '(?, ?)')].join(', ')}) h(user_id, channel)
      GROUP BY ALL
    ), turns AS (
      SELECT number, channel, due_at, due_at <= make_timestamp(?::BIGINT) AS is_due,
        coalesce(h.places, 0) + row_number() OVER (PARTITION BY n.user_id, n.channel ORDER BY due_at, number) AS turn
      FROM alert_notices n LEFT JOIN held h USING (user_id, channel)
      WHERE due_at IS NOT NULL AND ${isNotHeld(held)}
      QUALIFY turn <= ${perUser}
    )
    SELECT number, channel, epoch_us(due_at) AS due_at, is_due FROM turns
    QUALIFY row_number() OVER (PARTITION BY channel, is_due ORDER BY CASE WHEN is_due THEN turn END, due_at, number)
      <= CASE WHEN is_due THEN ${free} ELSE 1 END`;
  return [sql, [...held.flatMap(({ userId, channel }) => [userId, channel]), now]];
}

/** @param rows of {@link noticeTurns} */
export function toTurns(rows: readonly Row[], request: DueRequest): NoticeTurns {
  const due = rows.filter(({ is_due }) => is_due === true);
  const next = rows.filter(({ is_due, channel }) => {
    const begin = due.filter((row) => row.channel === channel).length;
    return is_due !== true && begin < freePlaces(request, channel as NotificationChannel);
  });
  return {
    taken: due.map(({ number }) => Number(number)),
    nextDueAt: next.length === 0 ? null : Math.min(...next.map(({ due_at }) => Number(due_at))),
  };
}

/** A condition for notices: that their sender does not have them. */
export function isNotHeld(held: readonly Pick<HeldNotification, 'number'>[]): string {
  return held.length === 0 ? 'true' : `number NOT IN (${listOf(held.map(({ number }) => number))})`;
}

function freePlaces({ held, places }: DueRequest, channel: NotificationChannel): number {
  return Math.max(0, places[channel].all - held.filter((notice) => notice.channel === channel).length);
}

/** A number for each channel, as SQL. */
function byChannel(
  what: (places: NotificationPlaces, channel: NotificationChannel) => number,
  { email, webhook }: DueRequest['places'],
): string {
  return `CASE channel WHEN 'email' THEN ${BigInt(what(email, 'email'))} ELSE ${BigInt(what(webhook, 'webhook'))} END`;
}
