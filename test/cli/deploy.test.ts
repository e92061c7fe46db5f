import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { builtinFactories } from '../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { readVersion } from '../../src/config/package-version.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { observeProcess } from '../../src/telemetry/process-metrics.js';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon } from '../support/daemon.js';
import { projectFolder, readProjectFile } from '../support/project-file.js';
import { testFolder } from '../support/test-folder.js';

const DEPLOY = join(projectFolder(), 'plugins/deploy');
const read = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');

void t.test('deploy writes the files of a kind with the given values', async (t) => {
  const folder = testFolder(t);
  const config = join(folder, 'mine.yaml');
  writeFileSync(config, '# ours\nservice: { telemetry: { logs: { level: debug } } }\n');
  const values = ['--image', 'r.example:5000/jackdaw:7', '--memory', '2GiB', '--config', config];
  const deploy = async (kind: string, ...options: string[]) => {
    const to = join(folder, kind);
    const { code, stderr } = await runInProcess(['deploy', kind, '--to', to, ...options]);
    t.equal(code, 0, stderr);
    return (file: string): string => readFileSync(join(to, file), 'utf8');
  };

  const container = await deploy('container', ...values);
  for (const file of ['compose.yaml', 'compose.gateway.yaml'])
    t.match(parse(container(file)), {
      services: { jackdaw: { image: 'r.example:5000/jackdaw:7', mem_limit: '2048m' } },
    });
  t.equal(container('config/local.yaml'), readFileSync(config, 'utf8'));

  const chart = await deploy('kubernetes', ...values);
  t.match(parse(chart('jackdaw/values.yaml')), {
    image: { repository: 'r.example:5000/jackdaw', tag: '7' },
    resources: { limits: { memory: '2048Mi' } },
    gateway: { config: { service: { telemetry: { logs: { level: 'debug' } } } } },
  });
  t.match(chart('jackdaw/values.yaml'), '# Memory limits decide');

  const systemd = await deploy('systemd', '--memory', '512MiB');
  t.match(systemd('jackdaw.service'), /^MemoryMax=512M$/m);
  const sidecar = join(folder, 'sidecar');
  const sidecarConfig = join(projectFolder(), 'plugins/sidecar/sidecar.yaml');
  await runInProcess(['deploy', 'systemd', '--to', sidecar, '--config', sidecarConfig]);
  t.strictSame(readdirSync(join(sidecar, 'config')), ['jackdaw.yaml']);
  t.equal(readFileSync(join(sidecar, 'config/jackdaw.yaml'), 'utf8'), readFileSync(sidecarConfig, 'utf8'));

  await deploy('monitoring');
});

void t.test('deploy refuses values that a kind does not have, and folders with files', async (t) => {
  const folder = testFolder(t);
  writeFileSync(join(folder, 'kept'), '');
  const refused: readonly [readonly string[], string][] = [
    [['monitoring', '--to', join(folder, 'a'), '--image', 'x'], 'monitoring has no --image'],
    [['systemd', '--to', join(folder, 'a'), '--memory', '2'], 'give a size of at least 128MiB'],
    [['systemd', '--to', folder], 'is not empty'],
  ];
  for (const [args, message] of refused) {
    const { code, stderr } = await runInProcess(['deploy', ...args]);
    t.equal(code, 2);
    t.match(stderr, message);
  }
  t.same(readdirSync(folder), ['kept']);
});

/** The text of a template that the chart defines, as Helm would render it with its default values. */
function chartConfig(name: string): string {
  const helpers = read('kubernetes/jackdaw/templates/_helpers.tpl');
  const text = helpers.split(`{{- define "jackdaw.${name}" -}}`)[1]?.split('{{- end }}')[0] ?? '';
  return text
    .replace(/\{\{ concat .* \}\}/, '[jackdaw]')
    .replace('{{ .Values.agent.gatewayUrl | quote }}', 'http://jackdaw:4318');
}

void t.test('the configurations to deploy are valid', async (t) => {
  const [configMap] = parseAllDocuments(read('kubernetes/sidecar.yaml'));
  const configurations: Readonly<Record<string, readonly string[]>> = {
    container: [read('container/config/jackdaw.yaml')],
    'container with ClickHouse': [
      read('container/config/jackdaw.yaml'),
      read('container/config.gateway.yaml'),
    ],
    systemd: [read('systemd/config/jackdaw.yaml')],
    gateway: [chartConfig('gatewayConfig')],
    agent: [chartConfig('agentConfig')],
    sidecar: [String(configMap?.getIn(['data', 'jackdaw.yaml']))],
  };
  const key = `jd_${'a'.repeat(43)}`;
  const environment = {
    variables: {
      JACKDAW_AGENT_KEY: key,
      GATEWAY_KEY: key,
      NODE_NAME: 'node-1',
      NODE_IP: '10.0.0.1',
      POD_NAME: 'pod-1',
      POD_NAMESPACE: 'default',
    },
    readFile: (file: string) => (file.endsWith('secrets_key') ? 'A'.repeat(43) + '=' : key),
  };
  for (const [name, texts] of Object.entries(configurations)) {
    const sources = texts.map((text, i) => ({ file: `${name}-${i}.yaml`, text }));
    const isWhole = !texts[0]?.includes('extends: default');
    await t.resolves(
      prepare([...(isWhole ? [] : [DEFAULT_CONFIG]), ...sources], environment, builtinFactories),
      name,
    );
  }
});

void t.test('the Compose files define every service, secret and volume that they use', (t) => {
  for (const file of ['compose.yaml', 'compose.gateway.yaml']) {
    const {
      services,
      volumes,
      secrets = {},
    } = parse(read(`container/${file}`)) as {
      services: Record<string, { depends_on?: object; secrets?: string[]; volumes?: string[] }>;
      volumes: object;
      secrets?: object;
    };
    for (const { depends_on = {}, secrets: used = [], volumes: mounted = [] } of Object.values(services)) {
      for (const name of Object.keys(depends_on)) t.ok(name in services, `${file}: service ${name}`);
      for (const name of used) t.ok(name in secrets, `${file}: secret ${name}`);
      for (const name of mounted
        .map((mount) => mount.replace(/:.*/, ''))
        .filter((name) => !/^[./]/.test(name)))
        t.ok(name in volumes, `${file}: volume ${name}`);
    }
  }
  t.end();
});

void t.test('the dashboard and the alert rules use metrics and labels that a daemon has', async (t) => {
  const overlay = `
exporters: { otlp_http: { endpoint: 'http://127.0.0.1:9', queue: { type: disk, directory: '${testFolder(t)}' } } }
service: { pipelines: { logs: { exporters: [storage, otlp_http] } } }`;
  const { meter, metricsUrl } = await startTestDaemon(t, { overlay });
  t.teardown(observeProcess(meter, '1.2.3'));
  const page = await (await fetch(`${metricsUrl}/metrics`)).text();
  // Lists also those of listeners with TLS.
  const documented = readProjectFile('src/telemetry/metrics.md');
  const rules = parse(read('monitoring/prometheus-rules.yaml')) as {
    groups: { rules: { expr: string; annotations: object }[] }[];
  };
  const dashboard = JSON.parse(read('monitoring/grafana-dashboard.json')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const expressions = [
    ...rules.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ];
  t.ok(expressions.length > 40);
  /** Prometheus adds these. */
  const added = ['instance', 'job'];
  for (const expression of expressions) {
    const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) =>
      names.split(/, */),
    );
    for (const [, metric = '', selector = ''] of expression.matchAll(
      /\b((?:jackdaw|process|nodejs)_\w+)(?:\{([^}]*)\})?/g,
    )) {
      const help = metric.replace(/_bucket$/, '');
      t.ok(page.includes(`# HELP ${help} `) || documented.includes(`\`${help}\``), metric);
      const series = page.split('\n').filter((line) => line.startsWith(`${metric}{`));
      const labels = [...[...selector.matchAll(/(\w+)=/g)].map(([, name]) => name), ...grouped];
      if (series.length === 0) continue;
      for (const label of labels.filter((name) => name !== undefined && !added.includes(name)))
        t.match(series[0], new RegExp(`[{,]${label}="`), `${label} of ${metric}`);
    }
  }
});

void t.test('files that name a version name this one', (t) => {
  const version = readVersion();
  const named: Readonly<Record<string, RegExp>> = {
    'container/Dockerfile': /^ARG VERSION=(.*)$/gm,
    'container/compose.yaml': /image: jackdaw:(.*)$/gm,
    'container/compose.gateway.yaml': /image: jackdaw:(.*)$/gm,
    'kubernetes/jackdaw/Chart.yaml': /^(?:appVersion|version): (.*)$/gm,
    'kubernetes/sidecar.yaml': /image: jackdaw:(.*)$/gm,
    'systemd/nfpm.yaml': /^version: (.*)$/gm,
  };
  for (const [file, pattern] of Object.entries(named)) {
    const versions = [...read(file).matchAll(pattern)].map(([, found]) => found);
    t.ok(versions.length > 0, file);
    t.ok(
      versions.every((found) => found === version),
      `${file}: ${versions.join(', ')}`,
    );
  }
  t.end();
});
