import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../../support/free-port.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../support/http-certificate.js';
import { OtlpLoad } from '../../support/otlp-load.js';
import { spawnDaemon } from '../../support/process.js';
import { emptied, exporterTotal, readRun, sidecarOverlay } from '../../support/sidecar.js';

const SERVER_TLS = '{ cert_file: ../tls.crt, key_file: ../tls.key, client_ca_file: ../tls.crt }';

for (const { title, scheme, compression, serverTls, tls } of [
  { title: 'plain and packed', scheme: 'http', compression: 'gzip', serverTls: 'null', tls: '' },
  {
    title: 'with TLS and a client certificate',
    scheme: 'https',
    compression: 'none',
    serverTls: SERVER_TLS,
    tls: 'tls: { ca_file: ../tls.crt, cert_file: ../tls.crt, key_file: ../tls.key }',
  },
])
  void t.test(
    `everything arrives over gRPC, also after a restart: ${title}`,
    { timeout: 120_000 },
    async (t) => {
      const folder = t.testdir({
        gateway: {},
        sidecar: {},
        'tls.crt': TEST_CERTIFICATE,
        'tls.key': TEST_KEY,
      });
      const port = await freePort();
      const endpoint = `"127.0.0.1:${port}"`;
      const grpc =
        serverTls === 'null' ? `{ endpoint: ${endpoint} }` : `{ endpoint: ${endpoint}, tls: ${serverTls} }`;
      const overlay = `receivers: { otlp: { protocols: { grpc: ${grpc} } } }\n`;
      const first = await spawnDaemon(t, { directory: join(folder, 'gateway'), overlay });
      const { directory, key } = first;
      const sidecar = await spawnDaemon(t, {
        directory: join(folder, 'sidecar'),
        overlay: sidecarOverlay(
          `${scheme}://localhost:${port}`,
          key,
          `protocol: grpc\n    compression: ${compression}\n    ${tls}`,
        ),
      });
      const load = new OtlpLoad(sidecar.otlpUrl, sidecar.key);
      await load.more(60);
      await first.stop('SIGKILL');
      await load.more(60);
      const second = await spawnDaemon(t, { directory, key, overlay });
      await load.more(60);
      await load.stop();
      await emptied(sidecar);
      t.equal(await exporterTotal(sidecar, 'dropped_items_total'), 0, 'nothing dropped');
      t.ok((await exporterTotal(sidecar, 'retries_total')) > 0, 'the gateway was unavailable');
      const { traces } = load.acknowledged;
      t.ok(traces.size > 5);
      for (const [traceId] of traces) {
        const response = await readRun(second, traceId);
        t.equal(response.status, 200);
        await response.body?.cancel();
      }
    },
  );
