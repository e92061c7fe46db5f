import type { SecretBox } from '../../component/secret-box.js';
import type { Clock } from '../../component/telemetry.js';
import type { RouteBuilder } from '../../http/operation.js';
import type { AlertStore } from '../../storage/alert-store.js';
import type { DeliveryStore } from '../../storage/delivery-store.js';
import type { MetaStore } from '../../storage/meta-store.js';
import type { TelemetryStore } from '../../storage/telemetry-store.js';
import type { Audit } from './audit.js';

/** The part of a delivery store that the API shows, and asks for more attempts. */
export type ShownDeliveries = Pick<
  DeliveryStore,
  'listDeliveries' | 'readDelivery' | 'retryDelivery' | 'allowedTargets'
>;

/** What the routes of the API stand on. */
export interface ApiContext {
  readonly routes: RouteBuilder;
  readonly telemetry: TelemetryStore;
  readonly meta: MetaStore;
  readonly deliveries: ShownDeliveries;
  readonly alerts: AlertStore;
  /** For secrets in the meta store. */
  readonly secrets: SecretBox;
  readonly audit: Audit;
  readonly clock: Clock;
}
