import type { SecretBox } from '../component/secret-box.js';
import type { Logger } from '../component/telemetry.js';
import { type Endpoints, sealOwner } from '../storage/contracts/deliveries.js';

/**
 * Reports undecryptable secrets in the store at the start, rather than at the first use. The daemon continues: ingestion does not
 * need secrets. If the key is lost, create new secrets.
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
