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
    'is not supported any more: each user has its own secret. Remove the key, and obtain the secret with POST /api/v1/me/alert-secret',
};

export const alertsConfig = section(
  {
    store: extensionId({
      description:
        'Id of the extension whose telemetry alerts are evaluated on: the one that storage writes to.',
      default: 'duckdb',
    }),
    control: extensionId({
      description: 'Id of the extension that keeps alerts, and what became of them.',
      default: 'sqlite',
    }),
    interval: duration({
      default: '30s',
      description:
        'How often all alerts are evaluated. Those whose agent or service something came for are evaluated within a second anyway. At least 1s.',
    }),
    window: duration({
      default: '60m',
      description: 'How far failure_rate and latency_threshold look back.',
    }),
    min_samples: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 1,
      description: 'Runs in the window below which failure_rate and latency_threshold say nothing.',
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
    ...(durationMs(config.window) === 0 ? [{ path: '/window', message: 'must be longer than 0s' }] : []),
    ...(durationMs(config.window) > LONGEST_WINDOW_MS
      ? [{ path: '/window', message: 'must not be longer than 366d' }]
      : []),
    ...(isTimezone(config.timezone)
      ? []
      : [
          {
            path: '/timezone',
            message: `there is no time zone "${config.timezone}": write UTC, or a name such as Europe/Berlin`,
          },
        ]),
    ...checkTargets(config.targets),
  ];
}
