import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { ChaosLoad } from '../support/chaos-load.js';
import { freePort } from '../support/free-port.js';
import { spawnDaemon } from '../support/process.js';
import { generateKey } from '../../src/auth/keys.js';
import { portsOverlay } from '../support/test-config.js';
import { emptied, SIDECAR, startSidecar } from './sidecar-process.js';
import { checkStoredOnce } from './stored-once.js';

/** `npm run test:chaos` kills 50 times during 100 000 items of each signal. */
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 3);
const ITEMS = Number(process.env['JACKDAW_TEST_ITEMS'] ?? 2000);
const PER_REQUEST = ITEMS > 10_000 ? 100 : 20;
/** Maximum random delay of a kill. */
const SPREAD_MS = 100;

t.setTimeout(0);

void t.test(
  'the example sidecar and gateway store all acknowledged data once under random kills',
  { timeout: 0 },
  async (t) => {
    const folder = t.testdir({ gateway: {}, sidecar: {} });
    const [gatewayPlace, sidecarPlace] = [join(folder, 'gateway'), join(folder, 'sidecar')];
    const port = await freePort();
    const key = generateKey();
    const ports = portsOverlay(gatewayPlace, key).replace('127.0.0.1:000 }', `127.0.0.1:${port} }`);
    const startGateway = () =>
      spawnDaemon(t, {
        ...{ directory: gatewayPlace, key, overlay: ports, files: [join(SIDECAR, 'gateway.yaml')] },
      });
    const startSidecarAgain = async () =>
      await startSidecar(t, { directory: sidecarPlace, gatewayUrl: `http://127.0.0.1:${port}`, key });
    let gateway = await startGateway();
    let sidecar = await startSidecarAgain();
    const load = new ChaosLoad(() => sidecar.otlpUrl, ITEMS, PER_REQUEST);
    const killed = { sidecar: 0, gateway: 0 };
    for (let kill = 1; kill <= KILLS; kill++) {
      await load.reached(Math.floor((3 * ITEMS * (kill - Math.random() * 0.9)) / (KILLS + 1)));
      await wait(Math.random() * SPREAD_MS);
      // Both are killed at least once.
      if (kill === 1 || (kill > 2 && Math.random() < 0.5)) {
        killed.sidecar += 1;
        await sidecar.stop('SIGKILL');
        sidecar = await startSidecarAgain();
      } else {
        killed.gateway += 1;
        await gateway.stop('SIGKILL');
        gateway = await startGateway();
      }
    }
    await load.done;
    const metrics = await emptied(sidecar);
    t.comment(`killed: ${JSON.stringify(killed)}`);
    t.match(metrics, /dead_letter_items_total\{.*\} 0/);
    t.notMatch(
      metrics,
      /(dead_letter_items|dropped_items|lost_items)_total\{.*\} [1-9]/,
      'nothing was dropped',
    );

    await checkStoredOnce(t, new ApiCaller(gateway.url, gateway.key), load, ITEMS);
    t.notMatch(sidecar.stderr() + sidecar.stdout(), key, "the gateway's key is never shown");
    t.strictSame(await sidecar.stop(), { code: 0, signal: null });
    t.strictSame(await gateway.stop(), { code: 0, signal: null });
  },
);
