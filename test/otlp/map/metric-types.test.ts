import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { requestTypes } from '../../../src/otlp/wire/messages.js';
import { metricsToPoints } from '../../../src/otlp/map/metrics-to-points.js';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { projectFolder, readProjectFile } from '../../support/project-file.js';

const FOLDER = 'test/testdata/otlp-metrics';
const FAR = 'start_time=1990-01-01T00:00:00Z&end_time=2200-01-01T00:00:00Z';

/** A request in OTLP/JSON and the expected API response. */
interface Golden {
  readonly request: object;
  /** The reason for each rejected point. */
  readonly rejected: readonly string[];
  /** As in the list, each with its points, in full detail. */
  readonly metrics: readonly { readonly name: string; readonly data_points: readonly object[] }[];
}

const { otlpUrl, url, key: adminKey } = await startTestDaemon(t);
const admin = new ApiCaller(url, adminKey);

for (const file of readdirSync(join(projectFolder(), FOLDER))) {
  for (const encoding of ['json', 'protobuf'] as const) {
    await t.test(`${file} in ${encoding}`, async (t) => {
      const golden = JSON.parse(readProjectFile(join(FOLDER, file))) as Golden;
      const { key } = await admin.createUser(`${encoding}@${file}.example`, ['read', 'write']);
      const request = decodeJson('metrics', structuredClone(golden.request));
      const body =
        encoding === 'json' ? JSON.stringify(golden.request) : requestTypes.metrics.encode(request).finish();
      const answer = await fetch(`${otlpUrl}/v1/metrics`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        },
        body: typeof body === 'string' ? body : new Uint8Array(body),
      });
      t.equal(answer.status, 200);
      t.strictSame(metricsToPoints(request, { tenant: 'a-user' }).rejected, golden.rejected);
      const api = new ApiCaller(url, key);
      const listed = await api.get<readonly { readonly name: string }[]>('/dashboard/metrics/');
      const metrics = await Promise.all(
        listed.map(async (metric) => {
          const path = `/dashboard/metrics/query?name=${encodeURIComponent(metric.name)}&details=true&${FAR}`;
          const { name, data_points, ...stream } = await api.get<Golden['metrics'][number]>(path);
          t.match(metric, stream, 'query and list agree');
          t.equal(name, metric.name);
          return { ...metric, data_points };
        }),
      );
      t.strictSame(metrics, golden.metrics);
    });
  }
}
