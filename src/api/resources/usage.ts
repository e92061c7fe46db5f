import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { formatTime } from '../../signal/time.js';
import { dayOf, monthlyLimit, formatDay } from '../../storage/contracts/telemetry-writer.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, time } from '../support/fields.js';

export const readUsage = {
  id: 'readUsage',
  method: 'GET',
  path: '/api/v1/usage',
  tag: 'identity',
  summary: 'Get the caller’s monthly events, limits and stored bytes',
  description:
    'An event is a newly stored span or a trace without spans and, if configured, a metric point or a log record. Nothing is counted without a processor `quota`.',
  access: 'read',
  responses: {
    200: Type.Object(
      {
        period: Type.String({ description: 'The UTC calendar month.', pattern: '^\\d{4}-\\d{2}$' }),
        used: count('Events of this month.'),
        limit: nullable(count('Null: no limit.')),
        resets_at: time('The first moment of the next month.'),
        stored_bytes: Type.Object(
          {
            used: nullable(
              count(
                'Bytes of telemetry, prompts, saved views and alerts, before compression, as last measured. Null: not measured yet.',
              ),
            ),
            limit: nullable(count('Null: no limit.')),
          },
          { title: 'StorageUse' },
        ),
      },
      { title: 'MonthlyUsage' },
    ),
  },
} satisfies Operation;

/** Three months, and some days more. */
const MOST_DAYS = 92;

const readDailyUsage = {
  id: 'readDailyUsage',
  method: 'GET',
  path: '/api/v1/usage/daily',
  tag: 'identity',
  summary: 'List the caller’s events and refused items by UTC day',
  description:
    'Oldest day first, including today. Events are those of `GET /usage`, and are kept. Refused items are known only since the daemon started, and count each time they were sent.',
  access: 'read',
  query: Type.Object({
    days: Type.Integer({
      minimum: 1,
      maximum: MOST_DAYS,
      default: 31,
      description: 'Number of days, including today.',
    }),
  }),
  responses: {
    200: Type.Array(
      Type.Object(
        {
          date: Type.String({ description: 'The UTC day.', format: 'date' }),
          events: nullable(count('Null: nothing was counted by day yet.')),
          refused: nullable(
            count('Refused items: traces, metric points, log records. Null: the daemon did not run.'),
          ),
          reasons: Type.Array(
            Type.Object({ code: Type.String(), items: count('Items.') }, { title: 'RefusedItems' }),
            { description: 'Error codes, the most frequent first.' },
          ),
        },
        { title: 'DailyUsage' },
      ),
    ),
  },
} satisfies Operation;

/** `/usage`, `/usage/daily` */
export function usageRoutes({
  routes,
  telemetry,
  control,
  rejections,
  clock,
}: ApiContext<'identity' | 'usage' | 'stored'>): readonly Route[] {
  return [
    routes.route(readUsage).to(async ({ identity }) => {
      const now = clock.now();
      const { userId } = identity;
      const [{ period, used, resets_at }, limit, stored_bytes] = await Promise.all([
        telemetry.usage.read(userId, now),
        monthlyLimit(control, userId, await telemetry.identity(), now),
        telemetry.stored.read(userId),
      ]);
      return { status: 200, json: { period, used, limit, resets_at: formatTime(resets_at), stored_bytes } };
    }),
    routes.route(readDailyUsage).to(async ({ identity, query }) => {
      const { userId } = identity;
      const days = await telemetry.usage.days(userId, clock.now(), query.days);
      const { since, counts } = rejections.of(userId);
      const knownFrom = formatDay(dayOf(since));
      const json = days.map(({ date, events }) => {
        const reasons = counts
          .filter((each) => each.date === date)
          .map(({ code, items }) => ({ code, items }))
          .sort((a, b) => b.items - a.items);
        const refused = reasons.reduce((sum, { items }) => sum + items, 0);
        return { date, events, refused: date < knownFrom ? null : refused, reasons };
      });
      return { status: 200, json };
    }),
  ];
}
