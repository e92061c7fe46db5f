import type { Clock } from '../../component/telemetry.js';
import { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import type { ControlStore } from '../../storage/contracts/control-store.js';

/** How long the policy is cached: settings may expire, and hints may be lost. */
const HOLDS_MS = 30_000;

/** The policy for webhook targets: allows what any sending daemon allows, according to the settings that they publish now. */
export function targetPolicy(
  { settings, watch }: Pick<ControlStore, 'settings' | 'watch'>,
  clock: Clock,
): () => Promise<AddressPolicy> {
  let known: { readonly policy: Promise<AddressPolicy>; readonly until: number } | undefined;
  watch.watch('terms', () => {
    known = undefined;
  });
  return async () => {
    const now = clock.now();
    if (known === undefined || now >= known.until)
      known = { policy: readPolicy(settings, now), until: now + HOLDS_MS * 1000 };
    const asked = known;
    try {
      return await asked.policy;
    } catch (error) {
      if (known === asked) known = undefined;
      throw error;
    }
  };
}

async function readPolicy(settings: ControlStore['settings'], now: number): Promise<AddressPolicy> {
  const published = await settings.all(now);
  return new AddressPolicy([...new Set(published.flatMap(({ targets }) => targets?.allow_cidrs ?? []))]);
}
