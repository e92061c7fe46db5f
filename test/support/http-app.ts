import type * as Http from 'node:http';
import { createRequire } from 'node:module';
import { trace } from '@opentelemetry/api';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';

/** A program that fetches SERVER_URL within a run. OTEL_* configures its instrumentation and endpoint. */
const sdk = new NodeSDK({ instrumentations: [new HttpInstrumentation()] });
sdk.start();
// The instrumentation patches modules required after it.
const http = createRequire(import.meta.url)('node:http') as typeof Http;

await trace.getTracer('http-app').startActiveSpan('look up the weather', async (run) => {
  await new Promise<void>((resolve, reject) => {
    http
      .get(`${process.env.SERVER_URL ?? ''}/weather?city=Oslo`, (response) => {
        response.resume();
        response.on('end', resolve);
      })
      .on('error', reject);
  });
  run.end();
});
await sdk.shutdown();
