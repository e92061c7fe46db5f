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
    description: 'Items accepted per second: spans, metric points, log records or events.',
  }),
  burst: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST,
      description: 'Items accepted at once after a quiet period. Default: two seconds worth of items.',
    }),
  ),
  per: choice(SHARERS, {
    default: 'user',
    description: 'Who shares one limit: user, key or global.',
  }),
  max_owners: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
    description: 'Users or keys tracked separately. Further ones share one limit.',
  }),
});

export type RateLimitConfig = Static<typeof rateLimitConfig>;
