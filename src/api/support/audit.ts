import type { Identity } from '../../component/identity.js';
import type { Logger } from '../../component/telemetry.js';

/** Who did something: the parts of a handler's input that say so. */
interface Actor {
  /** The identity of the key, whose id is null where authentication is off. */
  readonly identity: Identity;
  /** The address of the client, or of the proxy in front of this listener. */
  readonly address: string;
}

/** What users do with what they may, and administrators at all, that is logged; each once it is stored. */
type Deed =
  | 'key.created'
  | 'key.revoked'
  | 'user.created'
  | 'user.changed'
  | 'user.disabled'
  | 'user.enabled'
  | 'organization.created'
  | 'member.put'
  | 'member.removed'
  | 'webhook_secret.created'
  | 'webhook_secret.rotated'
  | 'alert_secret.rotated'
  | 'stores.exported'
  | 'session.opened'
  | 'session.closed'
  | 'session_link.created';

/** Writes one line of the log. @param fields ids and names of what was changed; never a secret */
export type Audit = (by: Actor, deed: Deed, fields: object) => void;

export function createAudit(logger: Logger): Audit {
  return ({ identity, address }, deed, fields) => {
    const by = { audit: deed, by_user_id: identity.userId, by_key_id: identity.keyId, address };
    logger.info({ ...by, ...fields }, `Audit: ${deed}`);
  };
}
