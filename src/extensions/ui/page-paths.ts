/**
 * Paths of pages. All serve `index.html`, whose program reads the path. `/metrics` is not included: Prometheus reads the daemon's
 * own metrics there, possibly on the same listener.
 */
export const PAGE_PATHS = [
  '/',
  '/login',
  '/agents',
  '/agents/{id}',
  '/runs',
  '/traces',
  '/traces/{id}',
  '/sessions',
  '/sessions/{id}',
  '/users',
  '/compare/agents',
  '/compare/runs',
  '/map',
  '/prompts',
  '/prompts/{name}',
  '/models',
  '/tools',
  // Not `/metrics`, which Prometheus reads.
  '/explore/metrics',
  '/logs',
  '/alerts',
  '/alerts/{id}',
  '/webhooks',
  '/webhooks/{org}',
  '/usage',
  '/settings',
  '/settings/{page}',
  '/daemon',
] as const;
