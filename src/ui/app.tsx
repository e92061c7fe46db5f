import { QueryClientProvider } from '@tanstack/react-query';
import { Redirect, Route, Router, Switch } from 'wouter';
import { BASE } from './api/base.js';
import { PAGE_CODE } from './page-code.js';
import { onDemand, type Load } from './parts/on-demand.js';
import { PageSkeleton } from './parts/Skeleton.js';
import { NotFound } from './pages/not-found.js';
import { PageBoundary } from './shell/PageBoundary.js';
import { Session } from './shell/Session.js';
import { Shell } from './shell/Shell.js';
import { withRange } from './state/carried-range.js';
import { ClockProvider } from './state/clock.js';
import { lastPart } from './state/path.js';
import { queries } from './state/queries.js';
import { SettingsProvider } from './state/settings.js';

function page<Props extends object>(load: Load<Props>) {
  return onDemand(load, <PageSkeleton />);
}

const Overview = page(PAGE_CODE['/']);
const Sessions = page(PAGE_CODE['/sessions']);
const OneSession = page(PAGE_CODE['/sessions/:id']);
const Users = page(PAGE_CODE['/users']);
const Models = page(PAGE_CODE['/models']);
const Tools = page(PAGE_CODE['/tools']);
const Prompts = page(PAGE_CODE['/prompts']);
const Prompt = page(PAGE_CODE['/prompts/:name']);
const CompareAgents = page(PAGE_CODE['/compare/agents']);
const Metrics = page(PAGE_CODE['/explore/metrics']);
const Logs = page(PAGE_CODE['/logs']);
const MapPage = page(PAGE_CODE['/map']);
const Agents = page(PAGE_CODE['/agents']);
const Agent = page(PAGE_CODE['/agents/:id']);
const Runs = page(PAGE_CODE['/runs']);
const Run = page(PAGE_CODE['/traces/:id']);
const Alerts = page(PAGE_CODE['/alerts']);
const Alert = page(PAGE_CODE['/alerts/:id']);
const NewAlert = page(PAGE_CODE['/alerts/new']);
const Webhooks = page(PAGE_CODE['/webhooks']);
const OneOrganization = page(PAGE_CODE['/webhooks/:org']);
const Settings = page(PAGE_CODE['/settings/:place']);
const Usage = page(PAGE_CODE['/usage']);
const DaemonPage = page(PAGE_CODE['/daemon']);
const CompareRuns = page(PAGE_CODE['/compare/runs']);

/** The whole app, from the theme to the pages. */
export function App() {
  return (
    <SettingsProvider>
      <ClockProvider>
        <QueryClientProvider client={queries}>
          <Router
            base={BASE.pathname.replace(/\/$/, '')}
            hrefs={withRange}
            aroundNav={(navigate, to, options) => {
              navigate(withRange(to), options);
            }}
          >
            <Session>
              <Shell>
                <PageBoundary>
                  <Switch>
                    <Route path="/agents/:id">{({ id }) => <Agent key={id} id={id} />}</Route>
                    <Route path="/agents" component={Agents} />
                    <Route path="/runs" component={Runs} />
                    <Route path="/traces">{() => <Redirect to="/runs" replace />}</Route>
                    <Route path="/traces/:id">{({ id }) => <Run key={id} id={id} />}</Route>
                    <Route path="/compare/runs" component={CompareRuns} />
                    <Route path="/compare/agents" component={CompareAgents} />
                    <Route path="/sessions/:id">
                      {() => <OneSession key={lastPart()} id={lastPart()} />}
                    </Route>
                    <Route path="/sessions" component={Sessions} />
                    <Route path="/users" component={Users} />
                    <Route path="/models" component={Models} />
                    <Route path="/tools" component={Tools} />
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
