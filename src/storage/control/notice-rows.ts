import { sql, type RawBuilder, type Transaction } from 'kysely';
import { invariant } from '../../signal/checked.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type {
  ClaimedNotice,
  NoticeClaim,
  NoticeClaims,
  NoticeRequest,
  NoticeResult,
  Notices,
  NotificationChannel,
  SkipRequest,
} from '../contracts/alerts.js';
import type { ControlDatabase } from './control-database.js';
import { toAttempts } from './notice-columns.js';
import { takeTurns } from './notice-turns.js';
import { nextNumbers } from './numbers.js';
import type { Tables } from './tables.js';

/** Maximum length of a list in a statement. */
const MOST_NAMES = 1000;

/** Notices. Claiming and skipping take a token first, which serializes them, so that limits hold over all senders. */
export class NoticeRows implements Notices {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async claim(request: NoticeRequest): Promise<NoticeClaims> {
    const dbNow = this.#database.dialect.now();
    const { now, perUser, leaseMs } = request;
    return await this.#database.transaction(async (tx) => {
      const token = await nextNumbers(tx, 'notice', 1);
      const underWay = await tx
        .selectFrom('alert_notices')
        .select((row) => ['user_id', 'channel', 'webhook_url', row.fn.countAll<number>().as('count')])
        .where('claimed_until', '>', dbNow)
        .groupBy(['user_id', 'channel', 'webhook_url'])
        .execute();
      const waiting = await tx
        .selectFrom((from) =>
          from
            .selectFrom('alert_notices')
            .select(['number', 'user_id', 'channel', 'webhook_url', 'due_at'])
            .select(
              sql<number>`row_number() over (partition by user_id, channel order by due_at, number)`.as(
                'place',
              ),
            )
            .where('due_at', '<=', now)
            .where('claimed_until', '<=', dbNow)
            .as('due'),
        )
        .select(['number', 'user_id', 'channel', 'webhook_url'])
        .select(sql<number>`due_at`.as('due_at'))
        .where('place', '<=', Math.max(perUser.email, perUser.webhook))
        .orderBy('due_at')
        .orderBy('number')
        .execute();
      const later = await tx
        .selectFrom('alert_notices')
        .select(['user_id', 'channel', sql<number>`min(due_at)`.as('due_at')])
        .where('due_at', '>', now)
        .where('claimed_until', '<=', dbNow)
        .groupBy(['user_id', 'channel'])
        .execute();
      const { taken, nextDueAt } = takeTurns(request, waiting, underWay, later);
      const items: ClaimedNotice[] = [];
      for (let start = 0; start < taken.length; start += MOST_NAMES)
        items.push(
          ...(await take(tx, taken.slice(start, start + MOST_NAMES), {
            token,
            now,
            end: this.#end(leaseMs),
          })),
        );
      const dueAt = new Map(waiting.map(({ number, due_at }) => [number, due_at]));
      const due = ({ number }: ClaimedNotice): number => invariant(dueAt.get(number), 'time of a notice');
      items.sort((a, b) => due(a) - due(b) || a.number - b.number);
      return { items, nextDueAt };
    });
  }

  async renew(claims: readonly NoticeClaim[], ms: number): Promise<readonly boolean[]> {
    return await this.#database.transaction(async (tx) => {
      const renewed = new Set<NoticeClaim>();
      for (const claim of inOrder(claims)) {
        const changed = await tx
          .updateTable('alert_notices')
          .set({ claimed_until: this.#end(ms) })
          .where('number', '=', claim.number)
          .where('token', '=', claim.token)
          // The claim was neither finished nor released.
          .where('claimed_until', '>', 0)
          .executeTakeFirst();
        if (changed.numUpdatedRows > 0n) renewed.add(claim);
      }
      return claims.map((claim) => renewed.has(claim));
    });
  }

  async finish(results: readonly NoticeResult[]): Promise<readonly boolean[]> {
    return await this.#database.transaction(async (tx) => {
      const noted = new Set<NoticeResult>();
      for (const result of inOrder(results)) {
        const query = tx
          .selectFrom('alert_notices')
          .select('history')
          .where('number', '=', result.number)
          .where('token', '=', result.token)
          .where('claimed_until', '>', 0);
        const row = await this.#database.dialect.lock(query).executeTakeFirst();
        if (row === undefined) continue;
        const { number, status, detail, attempt, retryAt } = result;
        const attempts = [...toAttempts(row.history), ...(attempt === null ? [] : [attempt])];
        const due_at = status === 'pending' ? retryAt : null;
        await tx
          .updateTable('alert_notices')
          .set({ status, detail, due_at, attempts: attempts.length, claimed_until: 0 })
          .set({ history: JSON.stringify(attempts) })
          .where('number', '=', number)
          .execute();
        noted.add(result);
      }
      return results.map((result) => noted.has(result));
    });
  }

  async skip({ now, channel, detail, userIds, most }: SkipRequest): Promise<number> {
    return await this.#database.transaction(async (tx) => {
      // Prevents concurrent claims of these notices.
      await nextNumbers(tx, 'notice', 1);
      let skipped = 0;
      for (const users of userIds === null ? [null] : parts(userIds)) {
        let query = tx
          .selectFrom('alert_notices')
          .select('number')
          .where('due_at', '<=', now)
          .where('channel', '=', channel)
          .where('claimed_until', '<=', this.#database.dialect.now())
          .orderBy('due_at')
          .orderBy('number')
          .limit(most - skipped);
        if (users !== null) query = query.where('attempts', '=', 0).where('user_id', 'in', users);
        // Skips notices that a sender is finishing concurrently.
        const found = await this.#database.dialect.lockSkipping(query).execute();
        for (const numbers of parts(found.map(({ number }) => number)))
          await tx
            .updateTable('alert_notices')
            .set({ status: 'skipped', detail, due_at: null, claimed_until: 0 })
            .where('number', 'in', numbers)
            .execute();
        skipped += found.length;
      }
      return skipped;
    });
  }

  #end(ms: number): RawBuilder<number> {
    return sql<number>`${this.#database.dialect.now()} + ${ms * MICROS_PER_MS}`;
  }
}

/** Claims notices. Skips those whose result was recorded in the meantime under an expired claim. */
async function take(
  tx: Transaction<Tables>,
  numbers: readonly number[],
  { token, now, end }: { readonly token: number; readonly now: number; readonly end: RawBuilder<number> },
): Promise<readonly ClaimedNotice[]> {
  await tx
    .updateTable('alert_notices')
    .set({ token, claimed_until: end })
    .where('number', 'in', numbers)
    .where('due_at', '<=', now)
    .execute();
  const rows = await tx
    .selectFrom('alert_notices')
    .innerJoin('alert_firings', 'alert_firings.number', 'alert_notices.firing')
    .innerJoin('users', 'users.id', 'alert_notices.user_id')
    .select(['alert_notices.number', 'alert_notices.channel', 'alert_notices.user_id'])
    .select(['alert_notices.webhook_url', 'alert_notices.attempts'])
    .select(['alert_firings.id as event_id', 'alert_firings.alert_id', 'alert_firings.body', 'users.email'])
    .where('alert_notices.number', 'in', numbers)
    .where('alert_notices.token', '=', token)
    .execute();
  return rows.map((row) => ({
    number: row.number,
    token,
    channel: row.channel as NotificationChannel,
    alertId: row.alert_id,
    eventId: row.event_id,
    userId: row.user_id,
    email: row.email,
    webhookUrl: row.webhook_url,
    body: row.body,
    attempts: row.attempts,
  }));
}

/** Sorted, so that two transactions that change the same rows do not deadlock. */
function inOrder<Claim extends NoticeClaim>(claims: readonly Claim[]): readonly Claim[] {
  return [...claims].sort((a, b) => a.number - b.number);
}

function* parts<One>(all: readonly One[]): Generator<readonly One[]> {
  for (let start = 0; start < all.length; start += MOST_NAMES) yield all.slice(start, start + MOST_NAMES);
}
