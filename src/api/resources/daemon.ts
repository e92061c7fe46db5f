import { Type, type Static } from 'typebox';
import { COMPONENT_STATES, type ComponentHealth } from '../../component/daemon-health.js';
import type { DaemonView, EdgeStats, ReloadReport } from '../../component/daemon-view.js';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { SIGNALS } from '../../signal/batch.js';
import { formatTime } from '../../signal/time.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, time } from '../support/fields.js';

const ids = (description: string) => Type.Array(Type.String(), { description });

const names = (description: string) => Type.Array(Type.String(), { description });

const endSchema = Type.Object(
  { kind: Type.Enum(['receiver', 'processor', 'exporter']), id: Type.String() },
  { title: 'EdgeEnd' },
);

const edgeSchema = Type.Object(
  {
    pipeline: Type.String(),
    from: endSchema,
    to: endSchema,
    offered: count(
      'Items handed over since the start. An item is a trace with its spans, a point, a log record or an event.',
    ),
    accepted: count('Items accepted by the next component and all later ones.'),
    refused: count('Items refused individually because of their content.'),
    failed: count('Items in batches that failed as a whole and can be retried.'),
    p99_ms: nullable(
      Type.Number({
        description:
          '99th percentile of the time of a batch over the last one to two minutes, including later components, within a tenth. Null: no batches.',
      }),
    ),
    queue: nullable(
      Type.Object(
        {
          items: count('Items queued or being sent.'),
          max_items: nullable(count('Null: the queue is on disk and limited by bytes only.')),
          bytes: count('Bytes in the queue: memory (approximate) or disk.'),
          max_bytes: count('Limit of `bytes`; on disk for all signals of the exporter together.'),
        },
        {
          title: 'QueueFill',
          description: 'Queue of an exporter, for all pipelines of the signal. Null: no queue.',
        },
      ),
    ),
  },
  { title: 'DaemonEdge' },
);

const daemonSchema = Type.Object(
  {
    version: Type.String(),
    started_at: time(),
    at: time('Time at which the values were read.'),
    uptime_s: Type.Number({ minimum: 0 }),
    phase: Type.Enum(['starting', 'running', 'stopping', 'stopped']),
    components: Type.Array(
      Type.Object(
        {
          kind: Type.Enum(['receiver', 'processor', 'exporter', 'extension']),
          id: Type.String({ description: 'As configured: `otlp`, `storage/archive`.' }),
          pipeline: nullable(Type.String({ description: 'For a processor: its pipeline.' })),
          state: Type.Enum([...COMPONENT_STATES]),
          message: nullable(Type.String({ description: 'The problem, and the remedy if there is one.' })),
        },
        { title: 'DaemonComponent' },
      ),
    ),
    edges: Type.Array(edgeSchema, { description: 'By pipeline, in data flow order.' }),
    pipelines: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: '`traces`, `traces/archive`' }),
          signal: Type.Enum(SIGNALS),
          receivers: ids('Their ids.'),
          threaded_receivers: ids('Those whose requests are processed in intake threads.'),
          processors: ids('In the order of the data flow.'),
          exporters: ids('All of them receive the data.'),
        },
        { title: 'DaemonPipeline' },
      ),
    ),
  },
  { title: 'Daemon' },
);

export type DaemonJson = Static<typeof daemonSchema>;

export const readDaemon = {
  id: 'readDaemon',
  method: 'GET',
  path: '/api/v1/daemon',
  tag: 'daemon',
  summary: 'Get the daemon’s components and their health, its pipelines, and the traffic of each edge',
  description:
    'Items are counted since the start. When nothing is in progress, offered = accepted + refused + failed. An exporter with a queue accepts items into the queue.',
  access: 'admin',
  responses: { 200: daemonSchema },
} satisfies Operation;

const readConfig = {
  id: 'readDaemonConfig',
  method: 'GET',
  path: '/api/v1/daemon/config',
  tag: 'daemon',
  summary: 'Get the effective configuration in YAML',
  description:
    'All files merged, defaults filled in. Values from the environment or from files are shown as references (`${env:NAME}`); secrets are `[secret]`.',
  access: 'admin',
  audit: ['config.read'],
  mediaType: 'application/yaml',
  responses: { 200: Type.String() },
} satisfies Operation;

const reloadSchema = Type.Object(
  {
    result: Type.Enum(['unchanged', 'applied']),
    added: names('Components that were added, such as `processor "cost" in pipeline "traces"`.'),
    removed: names('Components that were removed.'),
    changed: names('Components that were replaced because of their configuration, plugin or files.'),
    kept: count('Components that keep running unchanged.'),
    keys: names('Keys of the configuration that differ from before, without values.'),
    renewed: names('Components and listeners that read new certificates or mail settings.'),
    not_renewed: Type.Array(
      Type.Object({ name: Type.String(), reason: Type.String() }, { title: 'RenewalFailure' }),
      { description: 'Those that could not, and keep the old ones.' },
    ),
    config_hash: Type.String({
      description: 'Hash of the configuration without secrets, as in the metric `jackdaw_config_info`.',
    }),
    duration_ms: Type.Number({ minimum: 0 }),
  },
  { title: 'Reload' },
);

const reloadDaemon = {
  id: 'reloadDaemon',
  method: 'POST',
  path: '/api/v1/admin/reload',
  tag: 'daemon',
  summary: 'Read the configuration again and apply what has changed',
  description:
    'Nothing is changed unless the whole configuration is valid and every new component starts. 422: the configuration has errors, each with file, line and column. 409: a component could not start, or a key needs a restart; the message names it.',
  access: 'admin',
  audit: ['config.reloaded'],
  responses: { 200: reloadSchema },
  errors: [409, 422],
} satisfies Operation;

/** The routes under `/daemon`, and the reload. */
export function daemonRoutes({
  routes,
  daemon,
  health,
  audit,
  clock,
}: Pick<ApiContext, 'routes' | 'daemon' | 'health' | 'audit' | 'clock'>): readonly Route[] {
  return [
    routes.route(readDaemon).to(() => ({ status: 200, json: serializeDaemon({ daemon, health, clock }) })),
    routes.route(readConfig).to((by) => {
      audit(by, 'config.read', {});
      return {
        status: 200,
        encoded: Buffer.from(daemon.formatConfig()),
        headers: { 'content-type': 'application/yaml' },
      };
    }),
    routes.route(reloadDaemon).to(async (by) => {
      const report = await daemon.reload?.();
      audit(by, 'config.reloaded', { result: report?.result ?? 'unavailable' });
      return { status: 200, json: serializeReload(report) };
    }),
  ];
}

/** @throws HttpProblem if nothing was changed because of an error */
function serializeReload(report: ReloadReport | undefined): Static<typeof reloadSchema> {
  if (report === undefined)
    throw new HttpProblem(
      409,
      'conflict',
      'This daemon was not started from a configuration it can read again.',
    );
  const { result, configHash, durationMs, notRenewed, errors, added, removed, changed, keys, renewed } =
    report;
  if (result === 'invalid')
    throw new HttpProblem(422, 'validation_failed', 'The configuration has errors. Nothing was changed.', {
      errors: errors.map((message) => ({ field: '', message })),
    });
  if (result !== 'applied' && result !== 'unchanged')
    throw new HttpProblem(409, 'conflict', errors.join('; '));
  return {
    ...{ result, added: [...added], removed: [...removed], changed: [...changed], kept: report.kept },
    ...{ keys: [...keys], renewed: [...renewed], not_renewed: [...notRenewed] },
    config_hash: configHash,
    duration_ms: durationMs,
  };
}

export function serializeDaemon({
  daemon,
  health,
  clock,
}: Pick<ApiContext, 'daemon' | 'health' | 'clock'>): DaemonJson {
  const { version, startedAt, pipelines } = daemon;
  const at = clock.now();
  const { phase, components } = health();
  return {
    version,
    started_at: formatTime(startedAt),
    at: formatTime(at),
    // The clock may be set back meanwhile.
    uptime_s: Math.max(0, Math.floor((at - startedAt) / MICROS_PER_SECOND)),
    phase,
    components: components.map(serializeComponent),
    pipelines: pipelines.map(serializePipeline),
    edges: daemon.edges().map(serializeEdge),
  };
}

function serializeComponent({ kind, id, pipeline, state, message }: ComponentHealth) {
  return { kind, id, pipeline: pipeline ?? null, state, message: message ?? null };
}

function serializePipeline({
  name,
  signal,
  receivers,
  threadedReceivers = [],
  processors,
  exporters,
}: DaemonView['pipelines'][number]) {
  return {
    name,
    signal,
    receivers: [...receivers],
    threaded_receivers: [...threadedReceivers],
    processors: [...processors],
    exporters: [...exporters],
  };
}

function serializeEdge({ pipeline, from, to, offered, accepted, refused, failed, p99Ms, queue }: EdgeStats) {
  return {
    pipeline,
    from,
    to,
    offered,
    accepted,
    refused,
    failed,
    p99_ms: p99Ms === null ? null : Number(p99Ms.toPrecision(3)),
    queue: queue && {
      items: queue.items,
      max_items: queue.maxItems,
      bytes: Math.round(queue.bytes),
      max_bytes: queue.maxBytes,
    },
  };
}
