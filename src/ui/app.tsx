import { QueryClientProvider } from '@tanstack/react-query';
import { Route, Router, Switch } from 'wouter';
import { BASE } from './api/base.js';
import { PAGE_CODE } from './page-code.js';
import { onDemand } from './parts/on-demand.js';
import { PageSkeleton } from './parts/Skeleton.js';
import { NotFound } from './pages/not-found.js';
import { PageBoundary } from './shell/PageBoundary.js';
import { Session } from './shell/Session.js';
import { Shell } from './shell/Shell.js';
import { ClockProvider } from './state/clock.js';
import { lastPart } from './state/path.js';
import { queries } from './state/queries.js';
import { SettingsProvider } from './state/settings.js';

const Overview = onDemand(PAGE_CODE['/'], <PageSkeleton />);
const Sessions = onDemand(PAGE_CODE['/sessions'], <PageSkeleton />);
const OneSession = onDemand(PAGE_CODE['/sessions/:id'], <PageSkeleton />);
const Models = onDemand(PAGE_CODE['/models'], <PageSkeleton />);
const Prompts = onDemand(PAGE_CODE['/prompts'], <PageSkeleton />);
const Prompt = onDemand(PAGE_CODE['/prompts/:name'], <PageSkeleton />);
const CompareAgents = onDemand(PAGE_CODE['/compare/agents'], <PageSkeleton />);
const Metrics = onDemand(PAGE_CODE['/explore/metrics'], <PageSkeleton />);
const Logs = onDemand(PAGE_CODE['/logs'], <PageSkeleton />);
const MapPage = onDemand(PAGE_CODE['/map'], <PageSkeleton />);
const Agents = onDemand(PAGE_CODE['/agents'], <PageSkeleton />);
const Agent = onDemand(PAGE_CODE['/agents/:id'], <PageSkeleton />);
const Runs = onDemand(PAGE_CODE['/runs'], <PageSkeleton />);
const Run = onDemand(PAGE_CODE['/traces/:id'], <PageSkeleton />);
const Alerts = onDemand(PAGE_CODE['/alerts'], <PageSkeleton />);
const Alert = onDemand(PAGE_CODE['/alerts/:id'], <PageSkeleton />);
const NewAlert = onDemand(PAGE_CODE['/alerts/new'], <PageSkeleton />);
const Webhooks = onDemand(PAGE_CODE['/webhooks'], <PageSkeleton />);
const OneOrganization = onDemand(PAGE_CODE['/webhooks/:org'], <PageSkeleton />);
const Settings = onDemand(PAGE_CODE['/settings/:place'], <PageSkeleton />);
const Usage = onDemand(PAGE_CODE['/usage'], <PageSkeleton />);
const DaemonPage = onDemand(PAGE_CODE['/daemon'], <PageSkeleton />);
const CompareRuns = onDemand(PAGE_CODE['/compare/runs'], <PageSkeleton />);

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
