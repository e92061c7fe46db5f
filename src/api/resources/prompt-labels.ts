import { Type, type Static } from 'typebox';
import { HttpProblem, type HttpRequest, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { CREATION_PRECONDITION, PRECONDITION, REVALIDATION } from '../../http/entity-tag.js';
import { validationProblem } from '../../http/field-errors.js';
import { formatTime } from '../../signal/time.js';
import {
  LATEST,
  MOST_LABELS,
  MOST_MOVES,
  MOST_TARGETS,
  type ExpectedLabel,
  type LabelMove,
  type LabelTargets,
  type MoveResult,
  type NewMove,
  type PromptLabel,
} from '../../storage/contracts/prompt-labels.js';
import type { Identity } from '../../component/identity.js';
import type { ApiContext } from '../support/api-context.js';
import { conflictAsProblem } from '../support/conflict.js';
import { nullable, time, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { pageParameters, pageRange, pageSchema, serializePage } from '../support/paging.js';
import { promptParams, promptVersion } from './prompts.js';

const MAX_WEIGHT = 1000;

/** The name of a label. */
export function labelName(description: string) {
  return Type.String({ format: 'prompt-label', description });
}

const targetSchema = Type.Object(
  {
    version: Type.Integer(promptVersion),
    weight: Type.Integer({
      minimum: 1,
      maximum: MAX_WEIGHT,
      description: 'Share of the sessions, relative to the sum of all weights.',
    }),
  },
  { title: 'PromptLabelTarget', additionalProperties: false },
);

const targetsSchema = Type.Array(targetSchema, {
  description: 'Versions that the label serves, by version.',
});

const changeFields = {
  name: Type.String({ description: 'Name of the prompt.' }),
  label: Type.String(),
  revision: Type.Integer({ minimum: 1, description: 'Number of the move; the `ETag` of the label.' }),
  moved_at: time(),
  key_id: nullable(uuid('Key that moved it. Null if authentication was off.')),
  key_name: nullable(Type.String()),
};

const labelSchema = Type.Object({ ...changeFields, versions: targetsSchema }, { title: 'PromptLabel' });

export const moveSchema = Type.Object(
  {
    ...changeFields,
    from: nullable(Type.Array(targetSchema, { description: 'Null if the label was new.' })),
    to: nullable(Type.Array(targetSchema, { description: 'Null if the label was removed.' })),
  },
  { title: 'PromptLabelMove' },
);

const labelParams = Type.Object({
  ...promptParams.properties,
  label: labelName('Lower-case letters, digits, `.`, `_` and `-`.'),
});

export const listPromptLabels = {
  id: 'listPromptLabels',
  method: 'GET',
  path: '/api/v1/dashboard/prompts/{name}/labels',
  tag: 'prompts',
  summary: 'List the labels of a prompt, by name',
  description: `Without \`${LATEST}\`, which is always the newest version.`,
  access: 'read',
  params: promptParams,
  responses: { 200: Type.Array(labelSchema) },
  errors: [404],
} satisfies Operation;

const readLabel = {
  id: 'readPromptLabel',
  method: 'GET',
  path: '/api/v1/dashboard/prompts/{name}/labels/{label}',
  tag: 'prompts',
  summary: 'Read a label of a prompt, with its `ETag`',
  access: 'read',
  headers: REVALIDATION,
  params: labelParams,
  responses: { 200: labelSchema },
  errors: [404],
} satisfies Operation;

const moveLabel = {
  id: 'movePromptLabel',
  method: 'PUT',
  path: '/api/v1/dashboard/prompts/{name}/labels/{label}',
  tag: 'prompts',
  summary: 'Set or move a label of a prompt',
  description: `The label then serves one version, or up to ${MOST_TARGETS} versions with weights. A move to the same versions changes nothing. \`${LATEST}\` cannot be moved. A user can have ${MOST_LABELS} labels; more is a conflict.`,
  access: 'manage',
  audit: ['prompt_label.moved'],
  params: labelParams,
  body: Type.Object(
    {
      version: Type.Optional(
        Type.Integer({ ...promptVersion, description: 'The only version. Not together with `versions`.' }),
      ),
      versions: Type.Optional(
        Type.Array(targetSchema, { minItems: 1, maxItems: MOST_TARGETS, description: 'Each version once.' }),
      ),
    },
    { title: 'MovedPromptLabel', additionalProperties: false },
  ),
  headers: { request: { ...PRECONDITION, ...CREATION_PRECONDITION }, response: REVALIDATION.response },
  responses: { 200: labelSchema },
  errors: [404, 409, 412],
} satisfies Operation;

const removeLabel = {
  id: 'removePromptLabel',
  method: 'DELETE',
  path: '/api/v1/dashboard/prompts/{name}/labels/{label}',
  tag: 'prompts',
  summary: 'Remove a label of a prompt',
  description: 'Programs that read it then get 404.',
  access: 'manage',
  audit: ['prompt_label.removed'],
  params: labelParams,
  headers: { request: PRECONDITION },
  responses: { 204: null },
  errors: [404, 412],
} satisfies Operation;

const listMoves = {
  id: 'listPromptLabelMoves',
  method: 'GET',
  path: '/api/v1/dashboard/prompts/{name}/label-history',
  tag: 'prompts',
  summary: 'List the moves of the labels of a prompt, newest first',
  description: `Among the newest ${MOST_MOVES} moves of the user.`,
  access: 'read',
  params: promptParams,
  query: Type.Object({
    label: Type.Optional(labelName(`Only moves of this label. \`${LATEST}\` has none.`)),
    ...pageParameters,
  }),
  responses: { 200: pageSchema(moveSchema, 'PromptLabelMoves') },
  errors: [404],
} satisfies Operation;

/** The routes about labels of prompts. */
export function promptLabelRoutes({
  routes,
  control: { promptLabels },
  audit,
  clock,
}: Pick<ApiContext, 'routes' | 'control' | 'audit' | 'clock'>): readonly Route[] {
  const move = async (identity: Identity, change: NewMove): Promise<MoveResult> => {
    if (change.label === LATEST)
      throw validationProblem('path', [
        { field: 'label', message: `must not be ${LATEST}, which always serves the newest version` },
      ]);
    const by = { at: clock.now(), keyId: identity.keyId };
    return await conflictAsProblem(promptLabels.move(identity.userId, change, by));
  };
  return [
    routes.route(listPromptLabels).to(async ({ identity, params }) => {
      const labels = await promptLabels.ofPrompt(identity.userId, params.name);
      if (labels === null) throw notFound('prompt');
      return { status: 200, json: labels.map(serializeLabel) };
    }),
    routes.route(readLabel).to(async ({ identity, params: { name, label } }) => {
      const labels = (await promptLabels.ofPrompt(identity.userId, name)) ?? [];
      const found = labels.find((each) => each.label === label);
      if (found === undefined) throw notFound('prompt label');
      return tagged(found);
    }),
    routes.route(moveLabel).to(async ({ params: { name, label }, body, request, ...by }) => {
      const change = { name, label, to: targetsOf(body), expected: expectedOf(request) };
      const result = await move(by.identity, change);
      if (result.kind !== 'moved' && result.kind !== 'unchanged') throw refusalOf(result, label);
      const { versions, revision } = serializeLabel(result.label);
      if (result.kind === 'moved') audit(by, 'prompt_label.moved', { name, label, versions, revision });
      return tagged(result.label);
    }),
    routes.route(removeLabel).to(async ({ params: { name, label }, request, ...by }) => {
      const result = await move(by.identity, { name, label, to: null, expected: expectedOf(request) });
      if (result.kind !== 'removed') throw refusalOf(result, label);
      audit(by, 'prompt_label.removed', { name, label });
      return { status: 204 };
    }),
    routes.route(listMoves).to(async ({ identity, params: { name }, query }) => {
      const page = { label: query.label ?? null, ...pageRange(query) };
      const { moves, count } = await promptLabels.history(identity.userId, name, page);
      if (count === 0 && (await promptLabels.ofPrompt(identity.userId, name)) === null)
        throw notFound('prompt');
      return { status: 200, json: serializePage(moves.map(serializeMove), count, query) };
    }),
  ];
}

/** @throws HttpProblem 422 */
function targetsOf({ version, versions }: Static<typeof moveLabel.body>): LabelTargets {
  if ((version === undefined) === (versions === undefined)) {
    const message =
      version === undefined ? 'is required unless versions is set' : 'cannot be combined with versions';
    throw validationProblem('body', [{ field: '/version', message }]);
  }
  const targets = versions ?? [{ version: version ?? 0, weight: 1 }];
  if (new Set(targets.map((each) => each.version)).size < targets.length)
    throw validationProblem('body', [{ field: '/versions', message: 'must contain each version only once' }]);
  return targets.map(({ version, weight }) => ({ version, weight })).sort((a, b) => a.version - b.version);
}

const TAG = /^(?:W\/)?"(\d{1,15})"$/;

/** The precondition of a request. @throws HttpProblem 422 */
function expectedOf(request: HttpRequest): ExpectedLabel {
  const match = request.header('if-match')?.trim();
  if (match === undefined) return request.header('if-none-match')?.trim() === '*' ? 'none' : null;
  if (match === '*') return 'any';
  const revision = TAG.exec(match)?.[1];
  if (revision === undefined)
    throw validationProblem('headers', [
      { field: 'If-Match', message: 'must be the ETag of the label, such as "17", or *' },
    ]);
  return Number(revision);
}

function refusalOf(result: MoveResult, label: string): HttpProblem {
  if (result.kind === 'stale')
    return new HttpProblem(412, 'precondition_failed', staleText(result.current, label));
  if (result.kind === 'no_version')
    return new HttpProblem(
      404,
      'not_found',
      `The prompt has no version ${String(result.version)}: create it first, or choose one that exists.`,
    );
  return notFound(result.kind === 'no_prompt' ? 'prompt' : 'prompt label');
}

function staleText(current: PromptLabel | null, label: string): string {
  if (current === null)
    return `The label ${label} does not exist; it may have been removed. Retry without If-Match to create it.`;
  const { targets, revision, moved_at } = current;
  const versions = targets.map(({ version }) => String(version)).join(', ');
  return `The label ${label} was moved to version ${versions} at ${formatTime(moved_at)}. Check that, then retry with its new ETag "${String(revision)}".`;
}

function tagged(label: PromptLabel) {
  const headers = { etag: `"${String(label.revision)}"`, 'cache-control': 'no-store' };
  return { status: 200, encoded: Buffer.from(JSON.stringify(serializeLabel(label))), headers } as const;
}

function serializeChange(change: PromptLabel | LabelMove) {
  const { name, label, revision, moved_at, key_id, key_name } = change;
  return { name, label, revision, moved_at: formatTime(moved_at), key_id, key_name };
}

function serializeLabel(label: PromptLabel): Static<typeof labelSchema> {
  return { ...serializeChange(label), versions: [...label.targets] };
}

/** The API representation, in lists and in the event stream. */
export function serializeMove(move: LabelMove): Static<typeof moveSchema> {
  const [from, to] = [move.from, move.to].map((targets) => targets && [...targets]);
  return { ...serializeChange(move), from: from ?? null, to: to ?? null };
}
