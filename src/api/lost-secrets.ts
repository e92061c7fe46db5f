import type { SecretBox } from '../component/secret-box.js';
import type { Logger } from '../component/telemetry.js';
import { type Endpoints, sealOwner } from '../storage/contracts/deliveries.js';

/**
 * Reports secrets in the store that cannot be opened at the start, rather than when something is to be sent. The daemon runs on:
 * ingestion does not depend on them, and where the key is lost, new secrets are the cure.
 */
export async function reportLostSecrets(
  endpoints: Pick<Endpoints, 'listAll'>,
  secrets: SecretBox,
  logger: Logger,
): Promise<void> {
  const stored = await endpoints.listAll();
  const opened = await Promise.allSettled(
    stored.map(({ id, sealed_secret }) => secrets.open(sealed_secret, sealOwner(id))),
  );
  const lost = opened.filter((result) => result.status === 'rejected');
  const [first] = lost;
  if (!first) return;
  const reason: unknown = first.reason;
  logger.error(
    { webhook_endpoints: lost.length, reason: reason instanceof Error ? reason.message : String(reason) },
    'Cannot decrypt the secrets of webhook endpoints: restore the key, or rotate the secrets (rotate-secret); nothing is sent until then',
  );
}
