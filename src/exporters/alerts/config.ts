import { Type, type Static } from 'typebox';
import { isTimezone } from '../../alerting/days.js';
import { durationMs } from '../../config/duration.js';
import { duration, extensionId, section } from '../../config/schema.js';
import { checkTargets, targetsSection } from '../../delivery/senders/webhook/targets.js';
import { MS_PER_DAY } from '../../signal/time-units.js';

const LEAST_INTERVAL_MS = 1000;
const LONGEST_WINDOW_MS = 366 * MS_PER_DAY;
const REMOVED_KEYS = {
  webhook_signing_secret:
    'is no longer supported: each user has its own secret. Remove the key and get the secret with POST /api/v1/me/alert-secret',
};

export const alertsConfig = section(
  {
    store: extensionId({
      description:
        'Id of the telemetry store that alerts are evaluated on, the one that exporter storage writes to.',
      default: 'duckdb',
    }),
    control: extensionId({
      description: 'Id of the extension that stores alerts and their firings.',
      default: 'sqlite',
    }),
    interval: duration({
      default: '30s',
      description:
        'Evaluation interval, at least 1s. Alerts affected by new data are evaluated within a second.',
    }),
    window: duration({
      default: '60m',
      description: 'Period that failure_rate and latency_threshold look back over.',
    }),
    min_samples: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 1,
      description:
        'Runs that failure_rate and latency_threshold need in the window; with fewer they do not fire.',
    }),
    timezone: Type.String({
      default: 'UTC',
      description: 'Time zone that defines a day for cost_threshold, such as Europe/Berlin.',
    }),
    targets: targetsSection,
  },
  { removedKeys: REMOVED_KEYS },
);

export type AlertsConfig = Static<typeof alertsConfig>;

/** Checks what the schema cannot express. */
export function checkAlerts(
  config: AlertsConfig,
): readonly { readonly path: string; readonly message: string }[] {
  return [
    ...(durationMs(config.interval) < LEAST_INTERVAL_MS
      ? [{ path: '/interval', message: 'must be at least 1s' }]
      : []),
    ...(durationMs(config.window) === 0 ? [{ path: '/window', message: 'must be greater than 0s' }] : []),
    ...(durationMs(config.window) > LONGEST_WINDOW_MS
      ? [{ path: '/window', message: 'must not be longer than 366d' }]
      : []),
    ...(isTimezone(config.timezone)
      ? []
      : [
          {
            path: '/timezone',
            message: `"${config.timezone}" is not a time zone: use UTC or a name such as Europe/Berlin`,
          },
        ]),
    ...checkTargets(config.targets),
  ];
}
