import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { builtinFactories } from '../../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../../src/cli/default-config.js';
import { ConfigError, formatProblem } from '../../../src/config/config-error.js';
import { prepare } from '../../../src/pipeline/prepare.js';
import { ApiCaller } from '../../support/api-caller.js';
import { environmentOf } from '../../support/config-problems.js';
import { startTestDaemon } from '../../support/daemon.js';
import { metricValues } from '../../support/engine.js';
import { aSpan as anOtlpSpan, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { readProjectFile } from '../../support/project-file.js';
import { traceIdOf } from '../../support/header-text.js';
import { aSpan, anItem } from '../../support/trace-batch.js';

const OVERLAY = `
processors:
  filter:
    spans: ['span.name.startsWith("GET /health")']
    traces: ['trace.agent == "smoke-test" && identity.key_id != ""']
service:
  pipelines:
    traces: { processors: [validation, filter, quota, cost, service_map] }
`;

const PLUGIN = `
plugins: [jackdaw/plugins/drop-health-checks]
processors: { drop_health_checks: {} }
service: { pipelines: { traces: { processors: [drop_health_checks] } } }
`;

/** The condition documented for health checks. */
function recommended(page: string): string {
  const condition = /'span\.kind[^']*'/.exec(readProjectFile(page))?.[0] ?? '';
  return `
processors: { filter: { spans: [${condition}] } }
service: { pipelines: { traces: { processors: [filter] } } }
`;
}

const runFile = promisify(execFile);
const SERVER_APP = fileURLToPath(new URL('../../support/http-server-app.js', import.meta.url));

for (const { name, overlay, dropped, stored } of [
  { name: 'the plugin', overlay: PLUGIN, dropped: { spans: 0, traces: 2 }, stored: 1 },
  // A run that loses all spans is dropped with them.
  {
    name: 'filter README',
    overlay: recommended('src/processors/filter/README.md'),
    dropped: { spans: 1, traces: 1 },
    stored: 2,
  },
  {
    name: 'config.example.yaml',
    overlay: recommended('config.example.yaml'),
    dropped: { spans: 1, traces: 1 },
    stored: 2,
  },
])
  void t.test(`drops health checks of a real instrumented server: ${name}`, async (t) => {
    const daemon = await startTestDaemon(t, { overlay });
    await runFile(process.execPath, [SERVER_APP], {
      env: {
        PATH: process.env.PATH,
        OTEL_SERVICE_NAME: 'shop',
        OTEL_EXPORTER_OTLP_ENDPOINT: daemon.otlpUrl,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${daemon.key}`,
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
      },
    });
    const api = new ApiCaller(daemon.url, daemon.key);
    const { items } = await api.get<{ readonly items: readonly { readonly trace_id: string }[] }>(
      '/dashboard/traces?kind=all',
    );
    t.equal(items.length, stored);
    const details = await Promise.all(
      items.map(async ({ trace_id }) => {
        const run = `/dashboard/traces/${trace_id}`;
        const { spans } = await api.get<{ readonly spans: readonly { readonly span_id: string }[] }>(run);
        return await Promise.all(spans.map(({ span_id }) => api.get(`${run}/spans/${span_id}`)));
      }),
    );
    t.notMatch(JSON.stringify(details), /healthz/);
    t.match(JSON.stringify(details), /\/orders/);
    const counts = await metricValues(daemon.meter, 'jackdaw_processor_dropped_items_total');
    for (const [item, count] of Object.entries(dropped))
      t.equal(Object.entries(counts).find(([series]) => series.includes(`item="${item}"`))?.[1], count);
  });

void t.test('dropped items are acknowledged, counted and not stored', async (t) => {
  const { url, otlpUrl, key, meter } = await startTestDaemon(t, { overlay: OVERLAY });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const kept = anItem();
  const noisy = anItem({ spans: 0 });
  const traceId = traceIdOf(noisy);
  const items = [
    kept,
    { ...noisy, spans: [aSpan(traceId, { name: 'GET /healthz' }), aSpan(traceId)] },
    anItem({ trace: { agent: 'smoke-test' } }),
  ];
  const sent = await fetch(`${url}/api/v1/traces/batch`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ traces: items }),
  });
  t.equal(sent.status, 200, await sent.clone().text());
  t.match(await sent.json(), { accepted: 3, rejected: 0 });
  const otlp = await fetch(`${otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(protobufOf('traces', tracesOf(anOtlpSpan(1, { name: 'GET /healthz' })))),
  });
  t.equal(otlp.status, 200);
  t.equal((await otlp.arrayBuffer()).byteLength, 0, 'without a rejection');

  const list = (await (await fetch(`${url}/api/v1/dashboard/traces`, { headers })).json()) as {
    readonly items: readonly { readonly trace_id: string; readonly span_count: number }[];
  };
  t.strictSame(list.items.map(({ trace_id }) => trace_id).sort(), [traceIdOf(kept), traceId].sort());
  const detail = await (await fetch(`${url}/api/v1/dashboard/traces/${traceId}`, { headers })).text();
  t.notMatch(detail, /healthz/);
  t.strictSame(await metricValues(meter, 'jackdaw_processor_dropped_items_total'), {
    'jackdaw_processor_dropped_items_total{processor="filter",item="traces"}': 2,
    'jackdaw_processor_dropped_items_total{processor="filter",item="spans"}': 2,
  });
});

void t.test('an invalid condition reports its position in the file and the expression', async (t) => {
  const text = `processors:
  filter:
    spans:
      - 'span.name == "a"'
      - 'span.typ == "http"'
    logs: ['log.severity == "DEBG"']
    on_eror: keep
`;
  const broken = await problems(text);
  t.match(
    broken,
    /^jackdaw.yaml:7:5: error: processors.filter.on_eror: unknown key "on_eror"; did you mean "on_error"\?$/m,
  );
  const wrong = await problems(text.replace(/ +on_eror.*\n/, ''));
  t.match(
    wrong,
    /^jackdaw.yaml:5:9: error: processors.filter.spans\[1\]: span has no field "typ"; did you mean "type"\? \(column 6 of the expression\)$/m,
  );
  t.match(
    wrong,
    /^jackdaw.yaml:6:12: error: processors.filter.logs\[0\]: the severity of a log is never "DEBG"; did you mean "debug"\?/m,
  );
});

async function problems(text: string): Promise<string> {
  try {
    await prepare([DEFAULT_CONFIG, { file: 'jackdaw.yaml', text }], environmentOf({}), builtinFactories);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem).join('\n');
    throw error;
  }
}
