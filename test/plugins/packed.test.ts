import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runCli, spawnDaemon } from '../support/process.js';
import { projectFolder } from '../support/project-file.js';
import { testFolder } from '../support/test-folder.js';
import { TracesClient } from '../support/traces-client.js';

const run = promisify(execFile);
const root = projectFolder();
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

/** Packs a package and unpacks it into `node_modules` like an installation. @returns its files */
async function install(from: string, into: string, name: string): Promise<readonly string[]> {
  const packed = mkdtempSync(join(dirname(into), 'packed-'));
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', packed];
  const { stdout } = await run('npm', pack, { cwd: from, maxBuffer: 64 * 1024 * 1024 });
  const [made] = JSON.parse(stdout) as readonly { readonly files: readonly { readonly path: string }[] }[];
  const [tarball = ''] = readdirSync(packed);
  const place = join(into, 'node_modules', name);
  mkdirSync(place, { recursive: true });
  await run('tar', ['-xzf', join(packed, tarball), '-C', place, '--strip-components=1']);
  return made?.files.map(({ path }) => path) ?? [];
}

/** The links of a page to files that are not in the package. */
function deadLinks(page: string, files: readonly string[]): readonly string[] {
  const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\((?![a-z]+:)([^)#\s]+)(?:#[^)]*)?\)/g);
  return [...links]
    .map(([, link = '']) => normalize(join(dirname(page), link)))
    .filter((path) => !files.includes(path))
    .map((path) => `${page}: ${path}`);
}

void t.test('a packed program runs with a packed plugin in an empty project', async (t) => {
  const parent = testFolder(t);
  const project = join(parent, 'project');
  mkdirSync(project);

  const files = await install(root, project, 'jackdaw');
  for (const wanted of [
    'LICENSE',
    'README.md',
    'package.json',
    'config.example.yaml',
    'src/cli/demo/month.jsonl.br',
    'plugins/README.md',
    'plugins/prices/prices.yaml',
    'plugins/sidecar/sidecar.yaml',
    'plugins/webhook-receiver/verify.py',
    'src/cli/operating.md',
    'CHANGELOG.md',
    'dist/src/jackdaw.cjs',
    'dist/src/index.d.ts',
    'dist/src/testing/index.d.ts',
    'dist/plugins/syslog/plugin.js',
  ])
    t.ok(files.includes(wanted), wanted);
  t.strictSame(
    files.filter((path) =>
      /^(test|bench(?!.README)|src(?!\/cli\/demo\/month|.*\.(md|png)$)|proto|dist\/(test|bench))\/|\.tsbuildinfo$/.test(
        path,
      ),
    ),
    [],
    'nothing that only developers need',
  );
  t.strictSame(
    files.filter((path) => path.endsWith('.md')).flatMap((page) => deadLinks(page, files)),
    [],
  );
  // Its dependencies and nothing else from this repository.
  for (const name of Object.keys(manifest.dependencies)) {
    const place = join(project, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }

  const entry = join(project, 'node_modules', 'jackdaw', 'dist', 'src', 'jackdaw.cjs');
  await runCli(['plugin', 'new', 'my-processor', '--kind', 'processor'], { cwd: parent });
  await install(join(parent, 'my-processor'), project, 'my-processor');

  const overlay = `plugins: [my-processor, jackdaw/plugins/heartbeat]
processors: { my_processor: { key: team, value: search } }
extensions: { heartbeat: { url: 'http://127.0.0.1:9/', interval: 1d } }
service:
  intake: { threads: 1 }
  extensions: [sqlite, duckdb, query, health, heartbeat]
  pipelines: { traces: { processors: [validation, my_processor] } }
`;
  const daemon = await spawnDaemon(t, { directory: project, entry, overlay });
  const client = new TracesClient(daemon.url, daemon.key);
  const id = crypto.randomUUID();
  const times = { started_at: '2026-01-15T12:00:00Z', ended_at: '2026-01-15T12:00:01Z' };
  const span = { span_id: crypto.randomUUID(), trace_id: id, type: 'llm', name: 'chat', ...times };
  const trace = { trace_id: id, agent: 'a', status: 'completed', ...times };
  t.match(await client.sendTraces([{ trace, spans: [span] }]), { accepted: 1, rejected: 0 });
  t.match(await client.read(`/api/v1/dashboard/traces/${id}?include=metadata`), {
    spans: [{ metadata: { team: 'search' } }],
  });
  const { pipelines } = (await client.read('/api/v1/daemon')) as { readonly pipelines: readonly object[] };
  const threaded_receivers = ['trace_batch', 'otlp'];
  t.match(pipelines[0], { name: 'traces', processors: ['validation', 'my_processor'], threaded_receivers });
  const metrics = await (await fetch(`${daemon.metricsUrl}/metrics`)).text();
  t.match(metrics, 'jackdaw_my_processor_spans_total{processor="my_processor"} 1\n');
  t.match(await daemon.stop(), { code: 0 });
});
