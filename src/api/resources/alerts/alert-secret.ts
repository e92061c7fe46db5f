import { Type } from 'typebox';
import type { Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { generateSecret } from '../../../delivery/senders/webhook/signature.js';
import { formatTime } from '../../../signal/time.js';
import { alertSecretOwner } from '../../../storage/contracts/alerts.js';
import type { ApiContext } from '../../support/api-context.js';
import { nullable, time } from '../../support/fields.js';

const PATH = '/api/v1/me/alert-secret';

const readAlertSecret = {
  id: 'readAlertSecret',
  method: 'GET',
  path: PATH,
  tag: 'alerts',
  summary: 'Whether the caller has a secret that signs alert webhooks',
  description:
    'The secret itself is not shown. If a user has none, it is created with the first alert webhook, so that every request is signed.',
  access: 'read',
  responses: {
    200: Type.Object(
      {
        exists: Type.Boolean(),
        created_at: nullable(time('Time of creation or last rotation; null before the first.')),
      },
      { title: 'AlertSecretState' },
    ),
  },
} satisfies Operation;

const rotateAlertSecret = {
  id: 'rotateAlertSecret',
  method: 'POST',
  path: PATH,
  tag: 'alerts',
  summary: 'Create a new secret for the caller’s alert webhooks',
  description:
    'The previous secret is no longer used, so a request in flight fails verification. Alert webhooks are verified like those of endpoints.',
  access: 'manage',
  audit: ['alert_secret.rotated'],
  responses: {
    200: Type.Object(
      {
        secret: Type.String({
          description: '`whsec_` and the base64 of 32 bytes. Shown in this response only.',
        }),
        created_at: time(),
      },
      { title: 'RotatedAlertSecret' },
    ),
  },
} satisfies Operation;

/** `/me/alert-secret` */
export function alertSecretRoutes({
  routes,
  control: { alertSecrets },
  secrets,
  audit,
  clock,
}: Pick<ApiContext, 'routes' | 'control' | 'secrets' | 'audit' | 'clock'>): readonly Route[] {
  return [
    routes.route(readAlertSecret).to(async ({ identity }) => {
      const stored = await alertSecrets.find(identity.userId);
      const created_at = stored && formatTime(stored.created_at);
      return { status: 200, json: { exists: stored !== null, created_at } };
    }),
    routes.route(rotateAlertSecret).to(async (by) => {
      const { userId } = by.identity;
      const secret = generateSecret();
      const created_at = clock.now();
      const sealed_secret = await secrets.seal(secret, alertSecretOwner(userId));
      await alertSecrets.rotate(userId, { sealed_secret, created_at });
      audit(by, 'alert_secret.rotated', {});
      return { status: 200, json: { secret, created_at: formatTime(created_at) } };
    }),
  ];
}
