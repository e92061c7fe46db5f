import { Type, type TObject, type TProperties } from 'typebox';
import type { Factory } from '../../component/factory.js';
import { durationMs } from '../../config/duration.js';
import { duration, section } from '../../config/schema.js';

/** The configuration key for the limits of a plugin's component. */
export const LIMITS_KEY = 'plugin_limits';

const LIMITS = {
  start_timeout: duration({ default: '30s', description: 'Time limit for the start of the component.' }),
  consume_timeout: duration({
    default: '30s',
    description: 'Time limit for a batch, excluding later components. Afterwards it gets a retryable error.',
  }),
  request_timeout: duration({
    default: '60s',
    description: 'Time limit for HTTP routes of the component. Afterwards the client gets 503.',
  }),
  max_in_flight: Type.Integer({
    default: 256,
    minimum: 1,
    maximum: 100_000,
    description:
      'Batches in progress, including those never finished. Further batches get a retryable error.',
  }),
  max_block: duration({
    default: '1s',
    description:
      'Time one call may block the thread. Longer calls cannot be interrupted; they are counted and logged.',
  }),
  copy_batches: Type.Boolean({
    default: true,
    description:
      'Whether the component gets copies of batches, so that its changes stay local. false is faster.',
  }),
};

/** The limits that apply to a kind of component. */
function keysFor(factory: Factory): readonly (keyof typeof LIMITS)[] {
  switch (factory.kind) {
    case 'receiver':
      return ['start_timeout', 'max_in_flight', 'request_timeout'];
    case 'processor':
      return ['start_timeout', 'consume_timeout', 'max_in_flight', 'max_block'];
    case 'exporter':
      // A queued exporter has the key `timeout` for its attempts.
      return factory.delivery === 'queued'
        ? ['start_timeout', 'max_in_flight', 'max_block', 'copy_batches']
        : ['start_timeout', 'consume_timeout', 'max_in_flight', 'max_block', 'copy_batches'];
    case 'extension':
      return ['start_timeout', 'request_timeout'];
  }
}

/** Limits of one component of a plugin. */
export interface PluginLimits {
  readonly startMs: number;
  /** Null: the caller cancels the attempt itself. */
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
        description: 'Limits of this plugin component.',
      }),
    },
  };
}

/**
 * Splits a section.
 *
 * @returns the section without the limits, as the plugin expects it, and the limits
 */
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
