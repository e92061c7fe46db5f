import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { formatTime } from '../../signal/time.js';
import { monthlyLimit } from '../../storage/monthly-limit.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, time } from '../support/fields.js';

export const readUsage = {
  id: 'readUsage',
  method: 'GET',
  path: '/api/v1/usage',
  tag: 'identity',
  summary: 'How many events the caller has sent this month, and how many it may',
  description:
    'An event is a newly stored span, or a trace without spans; if the daemon is configured so, a metric point or a log record as well. Nothing is counted where no processor `quota` runs.',
  access: 'read',
  responses: {
    200: Type.Object(
      {
        period: Type.String({ description: 'The UTC calendar month.', pattern: '^\\d{4}-\\d{2}$' }),
        used: count('Events of this month.'),
        limit: nullable(count('Null: no limit.')),
        resets_at: time('The first moment of the next month.'),
      },
      { title: 'MonthlyUsage' },
    ),
  },
} satisfies Operation;

/** `/usage` */
export function usageRoutes({ routes, telemetry, control, clock }: ApiContext): readonly Route[] {
  return [
    routes.route(readUsage).to(async ({ identity }) => {
      const now = clock.now();
      const { userId } = identity;
      const [{ period, used, resets_at }, limit] = await Promise.all([
        telemetry.usage.read(userId, now),
        monthlyLimit(control, userId, await telemetry.identity(), now),
      ]);
      return { status: 200, json: { period, used, limit, resets_at: formatTime(resets_at) } };
    }),
  ];
}
