import type { Host } from '../../component/host.js';
import {
  HttpProblem,
  type HttpRequest,
  type HttpResponse,
  type Listener,
  type Route,
} from '../../component/http.js';
import type { Clock } from '../../component/telemetry.js';
import type { PluginLimits } from './limits.js';
import type { PluginFaults } from './plugin-faults.js';
import { runAs, runAsProgram } from './plugin-scope.js';

/** The daemon's interface for a plugin's component. */
export function guardedHost(
  host: Host,
  tools: { readonly faults: PluginFaults; readonly limits: PluginLimits; readonly clock: Clock },
): Host {
  const { faults } = tools;
  return {
    ...host,
    listener: (endpoint, options) => guardedListener(host.listener(endpoint, options), tools),
    authenticate: (request, scope) => runAsProgram(() => host.authenticate(request, scope)),
    browserLogins: (site) => runAsProgram(() => host.browserLogins(site)),
    refreshKeys: () => runAsProgram(() => host.refreshKeys()),
    reportStatus: (status) => {
      faults.report(status);
    },
  };
}

function guardedListener(listener: Listener, tools: Parameters<typeof guardedHost>[1]): Listener {
  return {
    endpoint: listener.endpoint,
    get secure() {
      return listener.secure;
    },
    route: (route) => {
      listener.route(guardedRoute(route, tools));
    },
    guard: (prefix, check) => {
      listener.guard(prefix, (request) => {
        runAs(tools.faults, () => {
          check(request);
        });
      });
    },
    unknown: (answer) => {
      listener.unknown((request) => runAs(tools.faults, () => answer(request)));
    },
    routes: () => listener.routes(),
  };
}

/** Inherits from the route instead of copying it: it may be an object with methods. */
function guardedRoute(route: Route, tools: Parameters<typeof guardedHost>[1]): Route {
  return Object.create(route, {
    handle: { value: (request: HttpRequest) => answer(route, request, tools), enumerable: true },
  }) as Route;
}

function answer(
  route: Route,
  request: HttpRequest,
  { faults, limits, clock }: Parameters<typeof guardedHost>[1],
): HttpResponse | Promise<HttpResponse> {
  const given = runAs(faults, () => route.handle(request));
  if (!(given instanceof Promise)) return given;
  let cancel = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(limits.requestMs, () => {
      faults.note(
        'timeout',
        `did not respond to a request to ${route.path} in time (plugin_limits.request_timeout)`,
      );
      reject(
        new HttpProblem(503, 'overloaded', 'The request timed out. Send it again later.', {
          headers: { 'retry-after': '1' },
        }),
      );
    });
  });
  return Promise.race([given, late]).finally(cancel);
}
