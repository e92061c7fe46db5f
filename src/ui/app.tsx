import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Route, Router, Switch } from 'wouter';
import { ApiError, BASE } from './api/client.js';
import { onDemand } from './parts/on-demand.js';
import { PageSkeleton } from './parts/Skeleton.js';
import { NotFound } from './pages/not-found.js';
import { PageBoundary } from './shell/PageBoundary.js';
import { Session } from './shell/Session.js';
import { Shell } from './shell/Shell.js';
import { ClockProvider } from './state/clock.js';
import { lastPart } from './state/path.js';
import { SettingsProvider } from './state/settings.js';

const Overview = onDemand(() => import('./pages/overview/Overview.js'), <PageSkeleton />);
const Sessions = onDemand(() => import('./pages/sessions/Sessions.js'), <PageSkeleton />);
const OneSession = onDemand(() => import('./pages/sessions/Session.js'), <PageSkeleton />);
const Models = onDemand(() => import('./pages/models/Models.js'), <PageSkeleton />);
const Prompts = onDemand(() => import('./pages/prompts/Prompts.js'), <PageSkeleton />);
const Prompt = onDemand(() => import('./pages/prompts/Prompt.js'), <PageSkeleton />);
const CompareAgents = onDemand(() => import('./pages/compare-agents/CompareAgents.js'), <PageSkeleton />);
const Metrics = onDemand(() => import('./pages/metrics/Metrics.js'), <PageSkeleton />);
const Logs = onDemand(() => import('./pages/logs/Logs.js'), <PageSkeleton />);
const MapPage = onDemand(() => import('./pages/map/MapPage.js'), <PageSkeleton />);
const Agents = onDemand(() => import('./pages/agents/Agents.js'), <PageSkeleton />);
const Agent = onDemand(() => import('./pages/agents/Agent.js'), <PageSkeleton />);
const Runs = onDemand(() => import('./pages/runs/Runs.js'), <PageSkeleton />);
const Run = onDemand(() => import('./pages/run/Run.js'), <PageSkeleton />);
const Alerts = onDemand(() => import('./pages/alerts/Alerts.js'), <PageSkeleton />);
const Alert = onDemand(() => import('./pages/alerts/Alert.js'), <PageSkeleton />);
const NewAlert = onDemand(() => import('./pages/alerts/NewAlert.js'), <PageSkeleton />);
const Webhooks = onDemand(() => import('./pages/webhooks/Webhooks.js'), <PageSkeleton />);
const OneOrganization = onDemand(() => import('./pages/webhooks/OneOrganization.js'), <PageSkeleton />);
const Settings = onDemand(() => import('./pages/settings/Settings.js'), <PageSkeleton />);
const Usage = onDemand(() => import('./pages/usage/Usage.js'), <PageSkeleton />);
const DaemonPage = onDemand(() => import('./pages/daemon/Daemon.js'), <PageSkeleton />);
const CompareRuns = onDemand(() => import('./pages/compare-runs/CompareRuns.js'), <PageSkeleton />);

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
                    <Route path="/prompts/:name">{() => <Prompt key={lastPart()} name={lastPart()} />}</Route>
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
                </PageBoundary>
              </Shell>
            </Session>
          </Router>
        </QueryClientProvider>
      </ClockProvider>
    </SettingsProvider>
  );
}
