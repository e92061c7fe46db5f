import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import t from 'tap';
import { apiRoutes, type OfferedContext } from '../../src/api/routes.js';

import { createRouteBuilder } from '../../src/http/operation.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';
import { openControlStore } from '../support/control-store.js';
import { ENGINES, startListener } from '../support/http-listener.js';

const ID = '00000000-0000-4000-8000-000000000001';
/** Every route that reads telemetry files, by the contract method it calls. */
const READS: readonly (readonly [string, string])[] = [
  ['runs.read', `/dashboard/traces/${ID}`],
  ['runs.list', '/dashboard/traces'],
  ['runs.search', '/dashboard/traces?query=x'],
  ['runs.values', '/dashboard/traces/values?field=tag'],
  ['runs.attributeValues', '/dashboard/traces/values?field=attribute.x'],
  ['runs.searchTrace', `/dashboard/traces/${ID}/search?query=x`],
  ['agents.compare', `/dashboard/traces/compare-agents?agent_a=${ID}&agent_b=${ID}`],
  ['agents.list', '/agents'],
  ['agents.find', '/agents?page=1'],
  ['agents.read', `/agents/${ID}`],
  ['runs.list', `/agents/${ID}/runs`],
  ['agents.days', `/agents/${ID}/stats`],
  ['models.list', '/dashboard/models'],
  ['models.tools', '/dashboard/tools'],
  ['metrics.list', '/dashboard/metrics/'],
  ['metrics.query', '/dashboard/metrics/query?name=x'],
  ['runs.scores', `/dashboard/traces/${ID}`],
  ['logs.search', '/dashboard/logs/search?query=x'],
  ['logs.findTrace', `/dashboard/logs/${ID}/trace`],
  ['map.read', '/dashboard/service-map/'],
  ['map.hours', '/dashboard/service-map/hours'],
];

/** A store whose reads wait until they are aborted, and report it. */
function patientStore(asked: (method: string) => void, abandoned: (method: string) => void): TelemetryStore {
  const read =
    (method: string) =>
    async (...args: readonly unknown[]): Promise<never> => {
      const abort = args.at(-1);
      if (!(abort instanceof AbortSignal)) throw new Error(`${method} came without a signal`);
      const gone = once(abort, 'abort');
      asked(method);
      await gone;
      abandoned(method);
      throw new Error('nobody waits');
    };
  const part = (name: string): object =>
    new Proxy({}, { get: (_, method) => read(`${name}.${String(method)}`) });
  // These routes use only the read methods of the store.
  return new Proxy({}, { get: (_, name) => part(String(name)) }) as TelemetryStore;
}

for (const engine of ENGINES) {
  void t.test(`${engine}: reads stop when the client disconnects`, async (t) => {
    let onCall: (method: string) => void = () => undefined;
    const askedFor = new Set<string>();
    const telemetry = patientStore(
      (method) => {
        askedFor.add(method);
        onCall(`asked ${method}`);
      },
      (method) => {
        onCall(`abandoned ${method}`);
      },
    );
    const routes = createRouteBuilder({
      authenticate: () => ({ userId: ID, keyId: ID, scopes: ['read'] as const }),
    });
    const control = await openControlStore(t);
    const context = { routes, telemetry, control, clock: { now: () => 0, after: () => () => undefined } };
    // Routes that are not called use the rest of the context.
    const listener = await startListener(t, engine, apiRoutes(context as unknown as OfferedContext));
    for (const [method, path] of READS) {
      const expectCall = async (wanted: string): Promise<void> => {
        await new Promise<void>((resolve) => {
          onCall = (name) => {
            if (name === wanted) resolve();
          };
        });
      };
      const asked = expectCall(`asked ${method}`);
      const request = httpRequest(`${listener.url}/api/v1${path}`, { agent: false });
      request.on('error', () => undefined);
      request.end();
      await asked;
      const abandoned = expectCall(`abandoned ${method}`);
      request.destroy();
      await abandoned;
      t.pass(`${method}: ${path}`);
    }
    t.same([...askedFor].sort(), [...new Set(READS.map(([method]) => method))].sort());
    await listener.underWay(0);
    t.notMatch(listener.logger.lines, /internal error/, 'not reported as an error');
  });
}
