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
import type { S3Settings } from '../../storage/transfer/backup-bucket.js';
import type { Audit } from './audit.js';

/** Dependencies of the API routes. They name the telemetry contracts that they need, since a store may implement only some. */
export interface ApiContext<Part extends TelemetryPart = never> {
  readonly routes: RouteBuilder;
  readonly telemetry: Pick<TelemetryStore, Part>;
  readonly control: ControlStore;
  /** The sender of a request according to current keys and users: `Host.identityNow`. */
  readonly identityNow: (request: Caller) => Identity | undefined;
  /** Await before answering a request that changed keys or scopes: `Host.refreshKeys`. */
  readonly refreshKeys: () => Promise<void>;
  /** The current policy for webhook targets. */
  readonly targets: () => Promise<AddressPolicy>;
  /** For secrets in the control store. */
  readonly secrets: SecretBox;
  /** `extensions.query.export_root`. */
  readonly exportRoot?: string | undefined;
  /** `extensions.query.backup_s3`. */
  readonly backupS3?: (S3Settings & { readonly url?: string | undefined }) | undefined;
  readonly audit: Audit;
  /** Await before creating data of a user. @throws ConsumeError `storage_exceeded` */
  readonly takeStorage: (userId: string, bytes: number) => Promise<void>;
  readonly logger: Logger;
  /** Data that was rejected, by user. */
  readonly rejections: Rejections;
  /** Prices for calls in the store of {@link telemetry}: `Prices.leadingTo`. */
  readonly prices: () => readonly PlacedPrices[];
  readonly clock: Clock;
  /** The running components and their throughput. */
  readonly daemon: DaemonView;
  /** The state of the daemon and its components: `Host.health`. */
  readonly health: () => DaemonHealth;
}
