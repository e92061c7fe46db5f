import type { Caller } from '../../component/host.js';
import type { DaemonHealth } from '../../component/daemon-health.js';
import type { DaemonView } from '../../component/daemon-view.js';
import type { Identity } from '../../component/identity.js';
import type { SecretBox } from '../../component/secret-box.js';
import type { PlacedPrices } from '../../component/prices.js';
import type { Rejections } from '../../component/rejections.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import type { RouteBuilder } from '../../http/operation.js';
import type { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import type { ControlStore } from '../../storage/contracts/control-store.js';
import type { TelemetryPart, TelemetryStore } from '../../storage/contracts/telemetry-store.js';
import type { Audit } from './audit.js';

/** What the routes of the API work with: of telemetry the parts that they need, since a store may not have all of them. */
export interface ApiContext<Part extends TelemetryPart = never> {
  readonly routes: RouteBuilder;
  readonly telemetry: Pick<TelemetryStore, Part>;
  readonly control: ControlStore;
  /** Who sends a request by what holds now: `Host.identityNow`. */
  readonly identityNow: (request: Caller) => Identity | undefined;
  /** To be awaited before answering somebody who changed keys or what they may do: `Host.settleKeys`. */
  readonly settleKeys: () => Promise<void>;
  /** Where webhooks may be sent at the moment. */
  readonly targets: () => Promise<AddressPolicy>;
  /** For secrets in the control plane. */
  readonly secrets: SecretBox;
  /** `extensions.query.export_root`. */
  readonly exportRoot?: string | undefined;
  readonly audit: Audit;
  /** To be awaited before something of a user is created. @throws ConsumeError `storage_exceeded` */
  readonly takeStorage: (userId: string, bytes: number) => Promise<void>;
  readonly logger: Logger;
  /** What users sent and was not taken. */
  readonly rejections: Rejections;
  /** By what calls are priced that lie in the store of {@link telemetry}: `Prices.leadingTo`. */
  readonly prices: () => readonly PlacedPrices[];
  readonly clock: Clock;
  /** What runs, and what passes through it. */
  readonly daemon: DaemonView;
  /** The state of the daemon and its components: `Host.health`. */
  readonly health: () => DaemonHealth;
}
