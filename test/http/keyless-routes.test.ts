import t from 'tap';
import type { Host } from '../../src/component/host.js';
import { healthExtension } from '../../src/extensions/health/factory.js';
import { serveMetrics } from '../../src/pipeline/daemon.js';
import { PrometheusMeter } from '../../src/telemetry/meter.js';
import { componentSettings } from '../support/component-settings.js';
import { heldRoute } from '../support/held-route.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';
import { testHost } from '../support/test-host.js';

const PATHS = ['/metrics', '/healthz', '/readyz'];

for (const engine of ENGINES) {
  void t.test(`${engine}: metrics and health share the limit of requests without a key`, async (t) => {
    const { route, release } = heldRoute({ path: '/held', isPublic: true });
    const { url, listener, metric, underWay } = await startListener(t, engine, [route], {
      limits: { maxRequestsInFlight: 8 },
    });
    serveMetrics(listener, new PrometheusMeter());
    const host: Host = {
      ...testHost(),
      listener: () => listener,
      health: () => ({ isReady: true, phase: 'running', components: [] }),
    };
    const health = healthExtension.create({
      ...componentSettings('health'),
      config: { endpoint: '127.0.0.1:0' },
    });
    await health.start?.(host);

    // One address gets a quarter.
    const held = [send(`${url}/held`), send(`${url}/held`)];
    await underWay(2);
    for (const path of PATHS) {
      const refused = await send(url + path);
      t.match(refused, { status: 503, headers: { 'retry-after': '1' } }, path);
      t.match(refused.json(), { code: 'overloaded' }, path);
    }
    t.equal(await metric('http_user_share_refusals_total', { of: 'public_requests' }), PATHS.length);
    release();
    await Promise.all(held);
    for (const path of PATHS) t.equal((await send(url + path)).status, 200, path);
  });
}
