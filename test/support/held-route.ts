import type { Route } from '../../src/component/http.js';

/** A `GET /`, or what is given, whose requests are all under way until they are released together. */
export function heldRoute(route: Partial<Omit<Route, 'handle'>> = {}): {
  readonly route: Route;
  readonly release: () => void;
} {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    route: {
      method: 'GET',
      path: '/',
      ...route,
      handle: async () => {
        await released;
        return { status: 200 };
      },
    },
    release,
  };
}
