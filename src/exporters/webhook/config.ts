import { Type, type Static } from 'typebox';
import { durationMs } from '../../config/duration.js';
import { duration, extensionId, section } from '../../config/schema.js';
import { checkAttemptTimes, connectTimeoutKey } from '../../delivery/senders/webhook/attempt-times.js';
import { checkTargets, targetsSection } from '../../delivery/senders/webhook/targets.js';

export const webhookConfig = section({
  control: extensionId({
    description: 'Id of the extension that keeps endpoints and deliveries.',
    default: 'sqlite',
  }),
  targets: targetsSection,
  retry_schedule: Type.Array(duration({ description: 'Wait after a failed attempt.' }), {
    maxItems: 50,
    default: ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'],
    description:
      'Waits after the first failed attempt, the second and so on, each varied by up to 20 %. A delivery has failed after one attempt more than there are waits.',
  }),
  timeout: duration({ default: '15s', description: 'Time for one attempt, from the connection to the end.' }),
  connect_timeout: connectTimeoutKey,
  breaker_threshold: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 20,
    description: 'Failed attempts in a row that pause an endpoint.',
  }),
  max_concurrency: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 64,
    description:
      'Attempts under way at once, at most half of them to one organization, and a quarter to one host.',
  }),
  max_concurrency_per_endpoint: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 4,
    description: 'Attempts under way at once to one endpoint.',
  }),
  retention: duration({
    default: '30d',
    description: 'How long deliveries and their attempts are kept, whatever became of them.',
  }),
});

export type WebhookConfig = Static<typeof webhookConfig>;

interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** What the schema cannot say. */
export function checkWebhook(config: WebhookConfig): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [...checkTargets(config.targets), ...checkAttemptTimes(config)];
  config.retry_schedule.forEach((wait, i) => {
    if (durationMs(wait) === 0)
      problems.push({ path: `/retry_schedule/${i}`, message: 'must be longer than nothing: 1s' });
  });
  const retriesMs = config.retry_schedule.reduce((sum, wait) => sum + durationMs(wait), 0);
  const retentionMs = durationMs(config.retention);
  if (retentionMs === 0 || retentionMs < retriesMs)
    problems.push({
      path: '/retention',
      message: `is shorter than the retries take (${Math.ceil(retriesMs / 1000)}s by retry_schedule): deliveries would be removed while they wait`,
    });
  return problems;
}
