import { Type, type TObject, type TProperties } from 'typebox';
import type { Factory } from '../../component/factory.js';
import { durationMs } from '../../config/duration.js';
import { duration, section } from '../../config/schema.js';

/** The key under which the limits of a plugin's component stand in its section. */
export const LIMITS_KEY = 'plugin_limits';

const LIMITS = {
  start_timeout: duration({ default: '30s', description: 'How long its start may take.' }),
  consume_timeout: duration({
    default: '30s',
    description:
      'How long it may hold one batch, without the time that what is behind it takes. Then the batch fails, and its sender may send it again.',
  }),
  request_timeout: duration({
    default: '60s',
    description: 'How long a route of its own may take until it answers. Then the client gets 503.',
  }),
  max_in_flight: Type.Integer({
    default: 256,
    minimum: 1,
    maximum: 100_000,
    description:
      'Batches that it may hold at once, those that it never gave back included. More are refused, and their senders may send them again.',
  }),
  max_block: duration({
    default: '1s',
    description:
      'How long one call may keep the thread busy. Nothing can interrupt it: a longer one is counted and logged.',
  }),
  copy_batches: Type.Boolean({
    default: true,
    description:
      'Give it copies of batches, so that changes of theirs reach nobody else. false saves the time for that.',
  }),
};

/** Which of them mean something for what. */
function keysFor(factory: Factory): readonly (keyof typeof LIMITS)[] {
  switch (factory.kind) {
    case 'receiver':
      return ['start_timeout', 'max_in_flight', 'request_timeout'];
    case 'processor':
      return ['start_timeout', 'consume_timeout', 'max_in_flight', 'max_block'];
    case 'exporter':
      // A queued one has the key `timeout` for its attempts.
      return factory.delivery === 'queued'
        ? ['start_timeout', 'max_in_flight', 'max_block', 'copy_batches']
        : ['start_timeout', 'consume_timeout', 'max_in_flight', 'max_block', 'copy_batches'];
    case 'extension':
      return ['start_timeout', 'request_timeout'];
  }
}

/** What one component of a plugin may do. */
export interface PluginLimits {
  readonly startMs: number;
  /** Null: the caller breaks an attempt off itself. */
  readonly consumeMs: number | null;
  readonly requestMs: number;
  readonly maxInFlight: number;
  readonly blockMs: number;
  readonly copiesBatches: boolean;
}

/** A plugin's schema with the key for its limits. */
export function schemaWithLimits(factory: Factory): TObject {
  const limits: TProperties = Object.fromEntries(keysFor(factory).map((key) => [key, LIMITS[key]]));
  const { configSchema } = factory;
  return {
    ...configSchema,
    properties: {
      ...configSchema.properties,
      [LIMITS_KEY]: section(limits, {
        description: 'What this component of a plugin may take of the daemon.',
      }),
    },
  };
}

/** @returns the section as the plugin knows it, and its limits */
export function splitLimits(config: Readonly<Record<string, unknown>>): {
  readonly own: Record<string, unknown>;
  readonly limits: PluginLimits;
} {
  const { [LIMITS_KEY]: written, ...own } = config;
  const values = written as Readonly<Record<string, unknown>>;
  const ms = (key: keyof typeof LIMITS, absent: number) => {
    const value = values[key];
    return typeof value === 'string' ? durationMs(value) : absent;
  };
  const consumeMs = ms('consume_timeout', 0);
  return {
    own,
    limits: {
      startMs: ms('start_timeout', 0),
      consumeMs: consumeMs === 0 ? null : consumeMs,
      requestMs: ms('request_timeout', 0),
      maxInFlight: Number(values['max_in_flight'] ?? 0),
      blockMs: ms('max_block', 0),
      copiesBatches: values['copy_batches'] === true,
    },
  };
}
