import { rawPath } from './state/path.js';

/** Page modules by route; a segment with a colon is a parameter. */
export const PAGE_CODE = {
  '/': () => import('./pages/overview/Overview.js'),
  '/agents': () => import('./pages/agents/Agents.js'),
  '/agents/:id': () => import('./pages/agents/Agent.js'),
  '/runs': () => import('./pages/runs/Runs.js'),
  '/traces/:id': () => import('./pages/run/Run.js'),
  '/compare/runs': () => import('./pages/compare-runs/CompareRuns.js'),
  '/compare/agents': () => import('./pages/compare-agents/CompareAgents.js'),
  '/sessions': () => import('./pages/sessions/Sessions.js'),
  '/sessions/:id': () => import('./pages/sessions/Session.js'),
  '/users': () => import('./pages/users/Users.js'),
  '/models': () => import('./pages/models/Models.js'),
  '/tools': () => import('./pages/tools/Tools.js'),
  '/map': () => import('./pages/map/MapPage.js'),
  '/prompts': () => import('./pages/prompts/Prompts.js'),
  '/prompts/:name': () => import('./pages/prompts/Prompt.js'),
  '/explore/metrics': () => import('./pages/metrics/Metrics.js'),
  '/logs': () => import('./pages/logs/Logs.js'),
  '/alerts': () => import('./pages/alerts/Alerts.js'),
  '/alerts/new': () => import('./pages/alerts/NewAlert.js'),
  '/alerts/:id': () => import('./pages/alerts/Alert.js'),
  '/webhooks': () => import('./pages/webhooks/Webhooks.js'),
  '/webhooks/:org': () => import('./pages/webhooks/OneOrganization.js'),
  '/usage': () => import('./pages/usage/Usage.js'),
  '/daemon': () => import('./pages/daemon/Daemon.js'),
  '/settings': () => import('./pages/settings/Settings.js'),
  '/settings/:place': () => import('./pages/settings/Settings.js'),
};

interface PageCode {
  readonly default: unknown;
  readonly early?: () => void;
}

/**
 * Starts loading the module of the current page in parallel to the rest. If the module exports `early`, it
 * starts the page's requests before React renders.
 */
export async function loadPage(): Promise<void> {
  const parts = rawPath().split('/');
  const found = Object.entries(PAGE_CODE).find(([pattern]) => {
    const segments = pattern.split('/');
    return (
      segments.length === parts.length &&
      segments.every((part, at) => part === parts[at] || (part.startsWith(':') && parts[at] !== ''))
    );
  });
  const code: PageCode | undefined = await found?.[1]();
  code?.early?.();
}
