import { Type, type Static } from 'typebox';
import { choice, extensionId, section } from '../../config/schema.js';
import type { TelemetrySignal } from '../../signal/batch.js';

/** What may count, as the configuration says it, and the signal that brings it. */
export const COUNTABLE = {
  spans: 'traces',
  metric_points: 'metrics',
  log_records: 'logs',
} as const satisfies Record<string, TelemetrySignal>;

type Countable = keyof typeof COUNTABLE;

export const quotaConfig = section({
  monthly_events: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'Items (events) a UTC calendar month for users without a limit of their own. 0: no limit.',
  }),
  count: Type.Array(choice(Object.keys(COUNTABLE) as Countable[], { description: 'One kind of items.' }), {
    uniqueItems: true,
    default: ['spans'],
    description: 'What counts: spans (a trace without spans is one), metric_points, log_records.',
  }),
  store: extensionId({ description: 'Id of the extension that counts.', default: 'duckdb' }),
  control: extensionId({
    description:
      "Id of the extension that keeps users' limits, and by which others are told of monthly_events.",
    default: 'sqlite',
  }),
});

export type QuotaConfig = Static<typeof quotaConfig>;
