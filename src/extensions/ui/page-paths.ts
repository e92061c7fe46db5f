/**
 * The paths of pages, all of which get `index.html`: the program in it reads the path. `/metrics` is none of them: it is where
 * Prometheus reads the daemon's own metrics, which may share the listener.
 */
export const PAGE_PATHS = [
  '/',
  '/login',
  '/agents',
  '/agents/{id}',
  '/runs',
  '/traces/{id}',
  '/sessions',
  '/sessions/{id}',
  '/compare/agents',
  '/compare/runs',
  '/map',
  '/prompts',
  '/prompts/{name}',
  '/models',
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
