import { Type, type Static } from 'typebox';
import { choice, extensionId, section } from '../../config/schema.js';
import type { TelemetrySignal } from '../../signal/batch.js';

/** Countable items by their name in the configuration, each with its signal. */
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
    description: 'Items per UTC month for users without their own limit. 0: no limit.',
  }),
  count: Type.Array(choice(Object.keys(COUNTABLE) as Countable[], { description: 'Kind of item.' }), {
    uniqueItems: true,
    default: ['spans'],
    description: 'Kinds of items that count. With spans, a trace without spans counts as one.',
  }),
  store: extensionId({
    description: 'Id of the telemetry store, which counts the items.',
    default: 'duckdb',
  }),
  control: extensionId({
    description: 'Id of the control store, which holds limits of users and publishes monthly_events.',
    default: 'sqlite',
  }),
});

export type QuotaConfig = Static<typeof quotaConfig>;
