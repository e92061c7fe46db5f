import { Type, type Static } from 'typebox';
import { choice, section } from '../../config/schema.js';

/** Whose items share one limit. */
const SHARERS = ['user', 'key', 'global'] as const;

const MOST = 1_000_000_000;

export const rateLimitConfig = section({
  items_per_second: Type.Number({
    exclusiveMinimum: 0,
    maximum: MOST,
    default: 5000,
    description: 'Items that are taken in each second: spans, metric points, log records, events.',
  }),
  burst: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST,
      description:
        'Items that may come at once, after a time in which fewer came. Absent: those of two seconds.',
    }),
  ),
  per: choice(SHARERS, {
    default: 'user',
    description: 'Whose items share one limit: of a user, a key, or all.',
  }),
  max_owners: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
    description: 'Users or keys that have a limit of their own at a time. Further ones share one.',
  }),
});

export type RateLimitConfig = Static<typeof rateLimitConfig>;
