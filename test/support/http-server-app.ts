import type * as Http from 'node:http';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';

/**
 * An instrumented HTTP server that receives requests for /healthz (once with a kube-probe user agent on another path) and /orders, then
 * ends. OTEL_* configures where its spans go.
 */
const sdk = new NodeSDK({
  instrumentations: [new HttpInstrumentation({ requireParentforOutgoingSpans: true })],
});
sdk.start();
// The instrumentation patches modules required after it.
const http = createRequire(import.meta.url)('node:http') as typeof Http;

const server = http.createServer((_, response) => {
  response.end('ok');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
for (const [path, agent] of [
  ['/healthz', 'curl/8'],
  ['/', 'kube-probe/1.30'],
  ['/orders', 'curl/8'],
] as const) {
  const request = http.get(url + path, { headers: { 'user-agent': agent }, agent: false });
  const [response] = (await once(request, 'response')) as [Http.IncomingMessage];
  response.resume();
  await once(response, 'end');
}
server.close();
await once(server, 'close');
await sdk.shutdown();
