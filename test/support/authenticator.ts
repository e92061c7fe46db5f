import { Authenticator } from '../../src/auth/authenticator.js';
import type { Clock, Logger } from '../../src/component/telemetry.js';
import type { AuthConfig } from '../../src/config/file-schema.js';

export interface AuthenticatorOptions {
  readonly control: Parameters<Authenticator['open']>[0];
  readonly config: AuthConfig;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An authenticator with the keys of a control store. */
export async function createAuthenticator({
  control,
  config,
  ...tools
}: AuthenticatorOptions): Promise<Authenticator> {
  const authenticator = new Authenticator(config, tools);
  await authenticator.open(control);
  return authenticator;
}
