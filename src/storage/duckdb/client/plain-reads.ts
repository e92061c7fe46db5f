import type { TelemetryPlane } from '../../telemetry-plane.js';
import type { StoreReach } from './store-reach.js';

/** The contracts all of whose methods the store thread answers as they are. What is missing here, or is in no contract, does not compile. */
const METHODS = {
  agents: { list: true, find: true, read: true, days: true, estimate: true, compare: true },
  models: { list: true, reprice: true },
  sessions: { list: true, read: true },
  past: { observe: true },
  usage: { read: true, days: true },
} as const satisfies {
  readonly [Part in keyof TelemetryPlane]?: { readonly [Method in keyof TelemetryPlane[Part]]: true };
};

/** A contract, each of whose methods is a read of the store thread: the user first, perhaps a signal last. */
export function plainReads<Part extends keyof typeof METHODS>(
  reach: StoreReach,
  part: Part,
): TelemetryPlane[Part] {
  const methods = Object.keys(METHODS[part]).map((method) => {
    const read = async (userId: string, ...rest: readonly unknown[]): Promise<unknown> => {
      const abort = rest.find((value) => value instanceof AbortSignal);
      const args = rest.filter((value) => value !== abort);
      return await reach.read(userId, part, method as never, args as never, abort);
    };
    return [method, read] as const;
  });
  return Object.fromEntries(methods) as unknown as TelemetryPlane[Part];
}
