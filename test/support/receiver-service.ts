import type { Test } from 'tap';
import type { Component } from '../../src/component/component.js';
import type { Host } from '../../src/component/host.js';
import type { UserLimits } from '../../src/component/user-limits.js';
import { trustProxies } from '../../src/http/trusted-proxies.js';
import { createListener } from '../../src/http/listener.js';
import { NO_RATES } from '../../src/http/user-rates.js';
import type { componentSettings } from './component-settings.js';
import { authenticateKnown } from './known-keys.js';

export interface ReceiverService {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Address of its own listener: `grpc://127.0.0.1:PORT`. Empty if it has none. */
  readonly announced: string;
  /** Stops only the receiver; the listener stays open. */
  readonly shutdown: (deadline: AbortSignal) => Promise<void>;
}

/** Starts a receiver on a real listener. Both end with the test. */
export async function startReceiver(
  t: Test,
  receiver: Component,
  settings: ReturnType<typeof componentSettings>,
  userLimits: UserLimits = NO_RATES,
): Promise<ReceiverService> {
  const listener = createListener('127.0.0.1:0', { ...settings, users: userLimits });
  let announced = '';
  const host: Pick<Host, 'listener' | 'authenticate' | 'announce' | 'userLimits' | 'trustedProxies'> = {
    listener: () => listener,
    authenticate: authenticateKnown,
    userLimits,
    trustedProxies: trustProxies([]),
    announce: (_, address) => {
      announced = address;
    },
  };
  await receiver.start?.(host as Host);
  const { port } = await listener.open();
  t.teardown(async () => {
    const deadline = AbortSignal.timeout(5000);
    await receiver.shutdown?.(deadline);
    await listener.close(deadline);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    announced,
    shutdown: async (deadline) => receiver.shutdown?.(deadline),
  };
}
