import type { SecretBox } from '../component/secret-box.js';
import type { Clock } from '../component/telemetry.js';
import type { RouteBuilder } from '../http/operation.js';
import type { MetaStore } from '../storage/meta-store.js';
import type { TelemetryStore } from '../storage/telemetry-store.js';

/** What the routes of the API stand on. */
export interface ApiContext {
  readonly routes: RouteBuilder;
  readonly telemetry: TelemetryStore;
  readonly meta: MetaStore;
  /** For secrets in the meta store. */
  readonly secrets: SecretBox;
  readonly clock: Clock;
}
