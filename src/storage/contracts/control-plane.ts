import type { Accounts } from './accounts.js';
import type { AlertRules } from './alert-rules.js';
import type { AlertSecrets } from './alert-secrets.js';
import type { AuditLog } from './audit-log.js';
import type { ControlTransfer } from './control-transfer.js';
import type { DeliveryQueue } from './delivery-queue.js';
import type { Endpoints } from './endpoints.js';
import type { EventLog } from './event-log.js';
import type { FactIntake, FactNews, FactSource } from './fact-source.js';
import type { Leases } from './leases.js';
import type { Logins } from './logins.js';
import type { Notices } from './notices.js';
import type { NumberedAgents } from './numbered-agents.js';
import type { Organizations } from './organizations.js';
import type { Prompts } from './prompts.js';
import type { Terms } from './terms.js';
import type { Views } from './views.js';
import type { Watch } from './watch.js';
import type { WriteBook } from './write-book.js';

/**
 * The control plane: small data that is changed in place and needs transactions. Each part is a contract of its own, with a suite
 * in `test/conformance/`.
 */
export interface ControlPlane {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly organizations: Organizations;
  readonly prompts: Prompts;
  readonly endpoints: Endpoints;
  readonly deliveries: DeliveryQueue;
  readonly events: EventLog;
  readonly leases: Leases;
  readonly writes: WriteBook;
  readonly agents: NumberedAgents;
  readonly terms: Terms;
  readonly alerts: AlertRules;
  readonly notices: Notices;
  readonly views: Views;
  readonly alertSecrets: AlertSecrets;
  readonly audit: AuditLog;
  readonly transfer: ControlTransfer;
  readonly watch: Watch;
  /**
   * A UUID that the store was given when it was made, and keeps. Whoever stores numbers of this store (tenants, prompts) notes
   * it, so as not to read them as those of another store.
   *
   * @throws ConsumeError `storage_unavailable` (retryable)
   */
  identity(): Promise<string>;
  /**
   * Brings the facts of a source into {@link events}, earlier ones too, each once and in their order, until it is stopped. Whatever
   * fails is tried again, without end. Only one may take a source at a time.
   */
  takeFacts(source: FactSource, news: FactNews): Promise<FactIntake>;
  /**
   * The folder of its files, where a first key and a key of secrets may be made; null where it has none: then both have to be
   * configured.
   */
  readonly directory: string | null;
}

/** Finds a control plane among extensions. */
export function isControlPlane(candidate: unknown): candidate is ControlPlane {
  return typeof candidate === 'object' && candidate !== null && 'accounts' in candidate;
}
