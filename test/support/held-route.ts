import type { Route } from '../../src/component/http.js';

/** A `GET /`, or the given route, whose requests stay pending until they are released together. */
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
