import { Type, type Static } from 'typebox';
import { durationMs } from '../../config/duration.js';
import { duration, extensionId, section } from '../../config/schema.js';
import { checkAttemptTimes, connectTimeoutKey } from '../../delivery/senders/webhook/attempt-times.js';
import { checkTargets, targetsSection } from '../../delivery/senders/webhook/targets.js';

export const webhookConfig = section({
  control: extensionId({
    description: 'Id of the control store, which holds endpoints and deliveries.',
    default: 'sqlite',
  }),
  targets: targetsSection,
  retry_schedule: Type.Array(duration({ description: 'Wait after a failed attempt.' }), {
    maxItems: 50,
    default: ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'],
    description:
      'Waits after each failed attempt, varied by up to 20%. After the last wait comes the last attempt.',
  }),
  timeout: duration({
    default: '15s',
    description: 'Time limit for one attempt, from connecting to the end of the response.',
  }),
  connect_timeout: connectTimeoutKey,
  breaker_threshold: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 20,
    description: 'Consecutive failed attempts after which an endpoint is paused.',
  }),
  max_concurrency: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 64,
    description:
      'Concurrent attempts; one organization gets at most half of them, one host at most a quarter.',
  }),
  max_concurrency_per_endpoint: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 4,
    description: 'Concurrent attempts to one endpoint.',
  }),
  retention: duration({
    default: '30d',
    description: 'Retention of deliveries and their attempts, whether they succeeded or failed.',
  }),
});

export type WebhookConfig = Static<typeof webhookConfig>;

interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** Checks rules that the schema cannot express. */
export function checkWebhook(config: WebhookConfig): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [...checkTargets(config.targets), ...checkAttemptTimes(config)];
  config.retry_schedule.forEach((wait, i) => {
    if (durationMs(wait) === 0)
      problems.push({ path: `/retry_schedule/${i}`, message: 'must be greater than 0, for example 1s' });
  });
  const retriesMs = config.retry_schedule.reduce((sum, wait) => sum + durationMs(wait), 0);
  const retentionMs = durationMs(config.retention);
  if (retentionMs === 0 || retentionMs < retriesMs)
    problems.push({
      path: '/retention',
      message: `is shorter than the retries take (${Math.ceil(retriesMs / 1000)}s by retry_schedule): deliveries would be removed before their last attempt`,
    });
  return problems;
}
