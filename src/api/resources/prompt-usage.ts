import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { PromptVersion, PromptVersionStats } from '../../storage/contracts/prompts.js';
import type { ScoreGroup } from '../../storage/contracts/scores.js';
import { ROW_BYTES } from '../../storage/contracts/telemetry-writer.js';
import { successRate } from '../support/agent-stat-fields.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, usd, uuid } from '../support/fields.js';
import { longList } from '../support/long-body.js';
import { notFound } from '../support/not-found.js';
import { scoreTotals } from '../support/scores.js';
import { promptName, promptParams, promptVersion, promptVersions } from './prompts.js';

const statsSchema = Type.Object(
  {
    version: Type.Integer({ minimum: 0 }),
    template_text: Type.String(),
    total_traces: count('Stored traces linked to the version, each once.'),
    success_rate: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Among the traces with a success signal; null: none has one.',
      }),
    ),
    avg_cost_usd: nullable(usd('US dollars, over the traces that have a cost')),
    avg_latency_ms: nullable(Type.Number()),
    p95_latency_ms: nullable(Type.Number()),
    scores: Type.Array(
      Type.Object({ name: Type.String(), ...scoreTotals }, { title: 'PromptVersionScore' }),
      {
        description: 'Scores of these traces, their spans and responses by name, most scores first.',
      },
    ),
  },
  { title: 'PromptVersionFigures' },
);

export const comparePrompts = {
  id: 'comparePromptVersions',
  method: 'GET',
  path: '/api/v1/dashboard/prompts/{name}/compare',
  tag: 'prompts',
  summary: 'Compare the statistics of all versions of a prompt, newest first',
  description: 'Versions that no trace has used have zeros and nulls.',
  access: 'read',
  params: promptParams,
  responses: {
    200: Type.Object(
      { name: Type.String(), versions: Type.Array(statsSchema) },
      { title: 'PromptComparison' },
    ),
  },
  errors: [404],
} satisfies Operation;

const recordUsage = {
  id: 'recordPromptUsage',
  method: 'POST',
  path: '/api/v1/dashboard/prompts/usage',
  tag: 'prompts',
  summary: 'Link a trace to the prompt version that it used',
  description:
    'Repeats change nothing. The trace may arrive later: it counts once it arrives, within 30 days, or within `retention.traces` of the store if that is shorter. A user can have 10 000 pending links; one more is `storage_exceeded`. OTLP spans that name a prompt and its version are linked automatically.',
  access: 'write',
  audit: { none: 'Data intake: links prompts to traces.' },
  body: Type.Object(
    {
      prompt_name: promptName('The name with which the prompt was created.'),
      prompt_version: Type.Integer(promptVersion),
      trace_id: uuid(),
      span_id: Type.Optional(uuid('For a trace that used several prompts: the span that used this one.')),
    },
    { title: 'PromptUsage', additionalProperties: false },
  ),
  responses: {
    201: Type.Object({ status: Type.Literal('recorded') }, { title: 'RecordedPromptUsage' }),
  },
  errors: [404],
} satisfies Operation;

/** The routes under `/dashboard/prompts` about the traces that used prompts. */
export function promptUsageRoutes({
  routes,
  telemetry,
  control,
  takeStorage,
  clock,
}: ApiContext<'prompts' | 'scores'>): readonly Route[] {
  return [
    routes.route(recordUsage).to(async ({ identity, body }) => {
      const link = { ...body, span_id: body.span_id ?? null };
      await takeStorage(identity.userId, ROW_BYTES.link);
      const isKnown = await telemetry.prompts.link(identity.userId, link, clock.now());
      if (!isKnown) throw notFound('prompt version');
      return { status: 201, json: { status: 'recorded' } };
    }),
    routes.route(comparePrompts).to(async ({ identity, params: { name }, request }) => {
      const versions = await promptVersions(control.prompts, identity.userId, name);
      const { userId } = identity;
      const asked = { group_by: 'prompt_version', prompt: name } as const;
      const [stats, scores] = await Promise.all([
        versions && telemetry.prompts.compare(userId, name, request.abort),
        versions === null ? [] : telemetry.scores.groups(userId, asked, request.abort),
      ]);
      if (!versions || !stats) throw notFound('prompt');
      const byVersion = new Map(stats.map((version) => [version.version, version]));
      const print = (prompt: PromptVersion) => ({
        ...serializeStats(prompt, byVersion.get(prompt.version)),
        scores: scores.filter(({ key }) => key === String(prompt.version)).map(serializeTotals),
      });
      const head = `{"name":${JSON.stringify(name)},"versions":[`;
      return { status: 200, encoded: await longList(head, versions, print, ']}') };
    }),
  ];
}

/** @param stats undefined for a version that was created during the read */
function serializeStats(
  { version, template_text }: PromptVersion,
  stats: PromptVersionStats | undefined,
): Omit<Static<typeof statsSchema>, 'scores'> {
  return {
    version,
    template_text,
    total_traces: stats?.total_traces ?? 0,
    success_rate: stats ? successRate(stats) : null,
    avg_cost_usd: stats?.avg_cost ?? null,
    avg_latency_ms: stats?.avg_latency_ms ?? null,
    p95_latency_ms: stats?.p95_latency_ms ?? null,
  };
}

function serializeTotals({ name, scores, values, mean, min, max }: ScoreGroup) {
  return { name, scores, values, mean, min, max };
}
