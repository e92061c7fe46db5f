import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Route, Router, Switch } from 'wouter';
import { ApiError, BASE } from './api/client.js';
import { PageSkeleton } from './parts/Skeleton.js';
import { NotFound } from './pages/not-found.js';
import { PageBoundary } from './shell/PageBoundary.js';
import { Session } from './shell/Session.js';
import { Shell } from './shell/Shell.js';
import { ClockProvider } from './state/clock.js';
import { lastPart } from './state/path.js';
import { SettingsProvider } from './state/settings.js';

const Overview = lazy(() => import('./pages/overview/Overview.js'));
const Sessions = lazy(() => import('./pages/sessions/Sessions.js'));
const OneSession = lazy(() => import('./pages/sessions/Session.js'));
const Models = lazy(() => import('./pages/models/Models.js'));
const Prompts = lazy(() => import('./pages/prompts/Prompts.js'));
const Prompt = lazy(() => import('./pages/prompts/Prompt.js'));
const CompareAgents = lazy(() => import('./pages/compare-agents/CompareAgents.js'));
const Metrics = lazy(() => import('./pages/metrics/Metrics.js'));
const Logs = lazy(() => import('./pages/logs/Logs.js'));
const MapPage = lazy(() => import('./pages/map/MapPage.js'));
const Agents = lazy(() => import('./pages/agents/Agents.js'));
const Agent = lazy(() => import('./pages/agents/Agent.js'));
const Runs = lazy(() => import('./pages/runs/Runs.js'));
const Run = lazy(() => import('./pages/run/Run.js'));
const Alerts = lazy(() => import('./pages/alerts/Alerts.js'));
const Alert = lazy(() => import('./pages/alerts/Alert.js'));
const NewAlert = lazy(() => import('./pages/alerts/NewAlert.js'));
const Webhooks = lazy(() => import('./pages/webhooks/Webhooks.js'));
const OneOrganization = lazy(() => import('./pages/webhooks/OneOrganization.js'));
const Settings = lazy(() => import('./pages/settings/Settings.js'));
const Usage = lazy(() => import('./pages/usage/Usage.js'));
const DaemonPage = lazy(() => import('./pages/daemon/Daemon.js'));
const CompareRuns = lazy(() => import('./pages/compare-runs/CompareRuns.js'));

const STALE_MS = 15_000;
const TRIES = 2;

/** Answers are fresh for a moment; what the caller did wrong is not asked again. */
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (count, error) => count < TRIES && !(error instanceof ApiError && error.status < 500),
    },
  },
});

/** Everything, from the theme to the pages. */
export function App() {
  return (
    <SettingsProvider>
      <ClockProvider>
        <QueryClientProvider client={queries}>
          <Router base={BASE.pathname.replace(/\/$/, '')}>
            <Session>
              <Shell>
                <PageBoundary>
                  <Suspense fallback={<PageSkeleton />}>
                    <Switch>
                      <Route path="/agents/:id">{({ id }) => <Agent key={id} id={id} />}</Route>
                      <Route path="/agents" component={Agents} />
                      <Route path="/runs" component={Runs} />
                      <Route path="/traces/:id">{({ id }) => <Run key={id} id={id} />}</Route>
                      <Route path="/compare/runs" component={CompareRuns} />
                      <Route path="/compare/agents" component={CompareAgents} />
                      <Route path="/sessions/:id">
                        {() => <OneSession key={lastPart()} id={lastPart()} />}
                      </Route>
                      <Route path="/sessions" component={Sessions} />
                      <Route path="/models" component={Models} />
                      <Route path="/map" component={MapPage} />
                      <Route path="/prompts/:name">
                        {() => <Prompt key={lastPart()} name={lastPart()} />}
                      </Route>
                      <Route path="/prompts" component={Prompts} />
                      <Route path="/explore/metrics" component={Metrics} />
                      <Route path="/logs" component={Logs} />
                      <Route path="/alerts/new" component={NewAlert} />
                      <Route path="/alerts/:id">{({ id }) => <Alert key={id} id={id} />}</Route>
                      <Route path="/alerts" component={Alerts} />
                      <Route path="/webhooks/:org">
                        {({ org }) => <OneOrganization key={org} org={org} />}
                      </Route>
                      <Route path="/webhooks" component={Webhooks} />
                      <Route path="/usage" component={Usage} />
                      <Route path="/daemon" component={DaemonPage} />
                      <Route path="/settings/:place?">
                        {({ place }) => <Settings key={place} place={place} />}
                      </Route>
                      <Route path="/" component={Overview} />
                      <Route component={NotFound} />
                    </Switch>
                  </Suspense>
                </PageBoundary>
              </Shell>
            </Session>
          </Router>
        </QueryClientProvider>
      </ClockProvider>
    </SettingsProvider>
  );
}
